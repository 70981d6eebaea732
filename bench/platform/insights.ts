import { DatabaseSync } from "node:sqlite";
import { type Benchmark, interleaved, median, wallMs } from "../measure.ts";
import { type Bench, openLedgers } from "./ledger.ts";
import { fillAccounts } from "./listed-rows.ts";
import { fillPayments } from "./payment-rows.ts";

/** 1,000,000 is what summaries and searches are meant for. */
const PAYMENT_ROWS = Number(process.env["BENCH_SUMMED_ROWS"] ?? 200_000);
const ACCOUNTS = Number(process.env["BENCH_ACCOUNTS"] ?? 200_000);
const MOST_RUNS = 7;
const CALLS = 20;

const SUMMARY = "/api/v1/remittance-export/payments/summary";
const LIST = "/api/v1/ingest/accounts";

const few = ({ runs }: { runs: number }) => ({ runs: Math.min(runs, MOST_RUNS) });

const ask = async (
  { platform, ledgers: [ledger] }: Bench,
  path: string,
  body?: object,
): Promise<string> => {
  const headers = { "X-API-Key": ledger?.ingestKey ?? "", "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await platform.fetch(new Request(`http://bench${path}`, { headers, ...sent }));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return text;
};

const PAYMENTS = `select payment_id, currency_code as currency, substr(payment_date, 1, 7) as month,
  count(*) as n, max(payment_amount_order) as amount
  from cashapp_payments where tenant_id = ?`;
const FIGURES = "count(*), sum(n), sum(amount)";

/** The groups, and the totals in which each payment counts once. */
const BARE = [
  `select month, currency, ${FIGURES} from (${PAYMENTS} group by 1, 2, 3) group by 1, 2`,
  `select currency, ${FIGURES} from (${PAYMENTS} group by 1, 2) group by 1`,
];

const summary: Benchmark = {
  name: "insights-payments-sum",
  about: `payments.summary by month of ${PAYMENT_ROWS} rows / its SQL without exact sums`,
  unit: "ms",
  aim: 1.5,
  async run(options) {
    const bench = await openLedgers([1]);
    const tenantId = bench.ledgers[0]?.tenantId ?? "";
    await fillPayments(bench.store, tenantId, PAYMENT_ROWS);
    const bare = new DatabaseSync(bench.path, { readOnly: true });
    const statements = BARE.map((text) => bare.prepare(text));
    const body = { source: "cashapp", groupBy: ["paymentDate:month"] };
    try {
      return await interleaved(
        {
          ours: () => wallMs(() => ask(bench, SUMMARY, body)),
          base: () => wallMs(() => statements.map((statement) => statement.all(tenantId))),
        },
        few(options),
      );
    } finally {
      bare.close();
      await bench.close();
    }
  },
};

const middle = async (act: (number: number) => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let number = 0; number < CALLS; number += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one at a time is what is measured
    times.push(await wallMs(() => act(number)));
  }
  return median(times);
};

const search: Benchmark = {
  name: "insights-account-search",
  about: `a search for part of a name among ${ACCOUNTS} accounts / a page of them by number`,
  unit: "ms",
  aim: 3,
  async run(options) {
    const bench = await openLedgers([1]);
    await fillAccounts(bench.store, bench.ledgers[0]?.tenantId ?? "", ACCOUNTS);
    // Each part is in about ten names.
    const part = (number: number) => `omer ${((number * 7919) % (ACCOUNTS / 10)) * 7}`;
    try {
      return await interleaved(
        {
          ours: () => middle((number) => ask(bench, `${LIST}?limit=10&search=${part(number)}`)),
          base: () => middle(() => ask(bench, `${LIST}?limit=10`)),
        },
        few(options),
      );
    } finally {
      await bench.close();
    }
  },
};

/** Answers computed by the platform in SQL. */
export const insightBenchmarks: readonly Benchmark[] = [summary, search];
