import { atMost, type Benchmark, interleaved, inTurn } from "../measure.ts";
import { fillAccounts, fillDocuments } from "./listed-rows.ts";
import { fillPayments } from "./payment-rows.ts";
import { ask, STORES } from "./served.ts";

/** 1,000,000 is what summaries and searches are meant for. */
const PAYMENT_ROWS = Number(process.env["BENCH_SUMMED_ROWS"] ?? 200_000);
/** Accounts, and as many documents. */
const ACCOUNTS = Number(process.env["BENCH_ACCOUNTS"] ?? 200_000);
const MOST_RUNS = 7;
const CALLS = 20;

const SUMMARY = "/api/v1/remittance-export/payments/summary";

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
