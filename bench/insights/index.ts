import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import type { InsightContext } from "../../src/insights/insight.ts";
import { paymentsSummarize } from "../../src/insights/payments-summarize.ts";
import { readDisputes } from "../../src/insights/read-disputes.ts";
import { readPayments } from "../../src/insights/read-payments.ts";
import { atMost, type Benchmark, cpuMs, interleaved } from "../measure.ts";
import { DISPUTES, PAYMENT_ROWS, withContext } from "./context.ts";
import { pauses } from "./pause.ts";
import { triageBenchmarks } from "./triage.ts";

const MOST_RUNS = 3;
const MOST_MIB = 300;
const MIB = 1024 * 1024;

const PAYMENTS = { source: "cashapp", groupBy: ["payerName"] } as const;
const FIELDS = ["paymentId", "currencyCode", "paymentAmount", "payerName"];

const summarizePayments = async (context: InsightContext): Promise<void> => {
  const args = paymentsSummarize.input.parse(PAYMENTS);
  const { rowCount } = await paymentsSummarize.run(context, args);
  if (rowCount !== PAYMENT_ROWS) throw new Error(`${rowCount} rows`);
};

const onlyReadPayments = async (context: InsightContext): Promise<void> => {
  const query = { source: PAYMENTS.source, fields: FIELDS, filters: {} };
  const { rowCount } = await readPayments(context, query, () => {});
  if (rowCount !== PAYMENT_ROWS) throw new Error(`${rowCount} rows`);
};

const payments: Benchmark = {
  name: "insights-payments",
  about: `payments_summarize by payer over ${PAYMENT_ROWS} rows in pages / reading the pages`,
  unit: "ms CPU",
  aim: 1.5,
  async run(options) {
    const context = await withContext();
    return interleaved(
      {
        ours: () => cpuMs(() => summarizePayments(context)),
        base: () => cpuMs(() => onlyReadPayments(context)),
      },
      atMost(MOST_RUNS, options),
    );
  },
};

const disputes: Benchmark = {
  name: "insights-disputes",
  about: `disputes_summary by account over ${DISPUTES} disputes in pages / reading the pages`,
  unit: "ms CPU",
  aim: 1.5,
  async run(options) {
    const context = await withContext();
    const args = disputesSummary.input.parse({ groupBy: ["account", "age"] });
    return interleaved(
      {
        ours: () => cpuMs(() => disputesSummary.run(context, args)),
        base: () => cpuMs(() => readDisputes(context, {}, () => {})),
      },
      atMost(MOST_RUNS, options),
    );
  },
};

const memory: Benchmark = {
  name: "insights-memory",
  about: `memory that payments_summarize over ${PAYMENT_ROWS} rows uses beyond reading them / ${MOST_MIB} MiB`,
  unit: "MiB",
  aim: 1,
  async run(options) {
    let most = 0;
    const seen = (): void => {
      most = Math.max(most, process.memoryUsage().heapUsed / MIB);
    };
    const context = await withContext({ seen });
    const peakOf = async (act: (context: InsightContext) => Promise<void>): Promise<number> => {
      most = 0;
      await act(context);
      return most;
    };
    return interleaved(
      {
        ours: async () => {
          const reading = await peakOf(onlyReadPayments);
          return Math.max(1, (await peakOf(summarizePayments)) - reading);
        },
        base: () => MOST_MIB,
      },
      atMost(MOST_RUNS, options),
    );
  },
};

export const readingBenchmarks: readonly Benchmark[] = [
  payments,
  disputes,
  memory,
  ...triageBenchmarks,
  ...pauses,
];
