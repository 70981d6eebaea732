import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { atMost, type Benchmark, cpuMs, interleaved, inTurn, wallMs } from "../measure.ts";
import { type Bench, type Ledger, openLedgers } from "./ledger.ts";
import { fillAccounts, fillDocuments } from "./listed-rows.ts";
import { fillPayments } from "./payment-rows.ts";
import { openPostgresLedgers } from "./postgres-ledgers.ts";

/** 1,000,000 is what summaries and searches are meant for. */
const PAYMENT_ROWS = Number(process.env["BENCH_SUMMED_ROWS"] ?? 200_000);
/** Accounts, and as many documents. */
const ACCOUNTS = Number(process.env["BENCH_ACCOUNTS"] ?? 200_000);
const MOST_RUNS = 7;
const CALLS = 20;

const SUMMARY = "/api/v1/remittance-export/payments/summary";

/** A platform with one tenant, and the same database without it. */
type Served = Bench<readonly [Ledger]> & {
  query(text: string): Promise<unknown>;
  /** Does what PostgreSQL does by itself within a minute after many changes. */
  settle(): Promise<unknown>;
};

const openSqliteBench = async (): Promise<Served> => {
  const bench = await openLedgers([1]);
  const [{ tenantId }] = bench.ledgers;
  return {
    ...bench,
    async query(text) {
      const bare = new DatabaseSync(bench.path, { readOnly: true });
      bare.prepare(text).all({ $1: tenantId });
      bare.close();
    },
    async settle() {},
  };
};

const openPostgresBench = async (): Promise<Served> => {
  const bench = await openPostgresLedgers([1]);
  const [{ tenantId }] = bench.ledgers;
  const client = new pg.Client(bench.url);
  await client.connect();
  return {
    ...bench,
    query: (text) => client.query(text, [tenantId]),
    settle: () => client.query("vacuum analyze"),
    async close() {
      await client.end();
      await bench.close();
    },
  };
};

/** SQLite works in the process, so that other load on the machine does not change its cost. */
const STORES = {
  sqlite: { open: openSqliteBench, cost: cpuMs, unit: "ms CPU" },
  postgres: { open: openPostgresBench, cost: wallMs, unit: "ms" },
};

const ask = async (
  { platform, ledgers: [{ ingestKey }] }: Served,
  path: string,
  body?: object,
): Promise<string> => {
  const headers = { "X-API-Key": ingestKey, "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await platform.fetch(new Request(`http://bench${path}`, { headers, ...sent }));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return text;
};

const PAYMENTS = `select payment_id, currency_code as currency, substr(payment_date, 1, 7) as month,
  count(*) as n, max(payment_amount_order) as amount
  from cashapp_payments where tenant_id = $1`;
const FIGURES = "count(*), sum(n), sum(amount)";

/** The groups, and the totals in which each payment counts once. */
const BARE = [
  `select month, currency, ${FIGURES} from (${PAYMENTS} group by 1, 2, 3) as p group by 1, 2`,
  `select currency, ${FIGURES} from (${PAYMENTS} group by 1, 2, 3) as p group by 1`,
];

const summaries = Object.entries(STORES).map(([store, { open, cost, unit }]): Benchmark => ({
  name: `insights-payments-sum-${store}`,
  about: `payments.summary by month of ${PAYMENT_ROWS} rows on ${store} / its SQL without exact sums`,
  unit,
  aim: 1.5,
  async run(options) {
    const bench = await open();
    await fillPayments(bench.store, bench.ledgers[0].tenantId, PAYMENT_ROWS);
    await bench.settle();
    const body = { source: "cashapp", groupBy: ["paymentDate:month"] };
    try {
      return await interleaved(
        {
          ours: () => cost(() => ask(bench, SUMMARY, body)),
          base: () =>
            cost(async () => {
              for (const text of BARE) await bench.query(text);
            }),
        },
        atMost(MOST_RUNS, options),
      );
    } finally {
      await bench.close();
    }
  },
}));

/** The searched lists, each with the beginning of a part that is in about ten records. */
const SEARCHED = {
  accounts: { fill: fillAccounts, part: "omer" },
  documents: { fill: fillDocuments, part: "ill" },
};

const searches = Object.entries(STORES).flatMap(([store, { open, cost, unit }]) =>
  Object.entries(SEARCHED).map(([noun, { fill, part }]): Benchmark => ({
    name: `insights-search-${noun}-${store}`,
    about: `${CALLS} searches for a part among ${ACCOUNTS} ${noun} on ${store} / pages of them by number`,
    unit,
    aim: 3,
    async run(options) {
      const bench = await open();
      await fill(bench.store, bench.ledgers[0].tenantId, ACCOUNTS);
      await bench.settle();
      const list = `/api/v1/ingest/${noun}?limit=10`;
      const sought = (number: number) => `${part} ${((number * 7919) % (ACCOUNTS / 10)) * 7}`;
      try {
        return await interleaved(
          {
            ours: () =>
              cost(() => inTurn(CALLS, (number) => ask(bench, `${list}&search=${sought(number)}`))),
            base: () => cost(() => inTurn(CALLS, () => ask(bench, list))),
          },
          atMost(MOST_RUNS, options),
        );
      } finally {
        await bench.close();
      }
    },
  })),
);

const QUERY = "/api/v1/remittance-export/payments/query";
const PAGE = 100;

const payers = Object.entries(STORES).map(([store, { open, cost, unit }]): Benchmark => ({
  name: `insights-search-payers-${store}`,
  about: `${CALLS} searches for a part of a payer among ${PAYMENT_ROWS} payments on ${store} / payments of one account`,
  unit,
  aim: 3,
  async run(options) {
    const bench = await open();
    await fillPayments(bench.store, bench.ledgers[0].tenantId, PAYMENT_ROWS);
    await bench.settle();
    const query = (field: string, condition: object) =>
      ask(bench, QUERY, { source: "cashapp", filters: { [field]: condition }, limit: PAGE });
    const numberOf = (call: number) => 100 + ((call * 79) % 800);
    try {
      return await interleaved(
        {
          ours: () =>
            cost(() =>
              inTurn(CALLS, (call) => query("payerName", { contains: `omer ${numberOf(call)}` })),
            ),
          base: () =>
            cost(() =>
              inTurn(CALLS, (call) => query("accountNumber", { eq: `account-${numberOf(call)}` })),
            ),
        },
        atMost(MOST_RUNS, options),
      );
    } finally {
      await bench.close();
    }
  },
}));

/** Answers computed by the platform in SQL. */
export const insightBenchmarks: readonly Benchmark[] = [...summaries, ...searches, ...payers];
