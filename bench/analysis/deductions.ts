import { deductionsWithoutDispute } from "../../src/insights/deductions-without-dispute.ts";
import { type DisputeArguments, readDisputes } from "../../src/insights/read-disputes.ts";
import { readPayments } from "../../src/insights/read-payments.ts";
import { createContext, DISPUTES } from "../insights/context.ts";
import { atMost, type Benchmark, cpuMs, interleaved } from "../measure.ts";
import { openLedgers } from "../platform/ledger.ts";
import { fillPayments } from "../platform/payment-rows.ts";

const ROWS = Number(process.env["BENCH_DEDUCTIONS"] ?? 1_000_000);
const MOST_RUNS = 3;
const CODES = 12;

/** Every row deducts something. The first ones are of documents with a dispute, and every second has its amount. */
const toDeduction = (number: number): Record<string, unknown> => {
  const disputed = ((number * 7919) % 1_000_000) + 100;
  return {
    documentNumber: String(number),
    deductionAmount: (disputed + (number % 2)) / 100,
    deductionReasonCode: `code-${number % CODES}`,
  };
};

const OPEN_OR_CLOSED = { Status: [0, 1] } satisfies DisputeArguments;

/** Deductions without a dispute, against reading the same payment rows and disputes. */
export const deductionBenchmarks: readonly Benchmark[] = [
  {
    name: "work-deductions",
    about: `deductions_without_dispute over ${ROWS} deductions and ${DISPUTES} disputes in pages / reading the pages`,
    unit: "ms CPU",
    aim: 1.5,
    async run(options) {
      const bench = await openLedgers([DISPUTES]);
      await fillPayments(bench.store, bench.ledgers[0].tenantId, ROWS, toDeduction);
      const context = createContext(bench);
      const args = deductionsWithoutDispute.input.parse({ groupBy: "account" });
      let fields: string[] = [];
      const ours = async (): Promise<void> => {
        const { rowCount } = await deductionsWithoutDispute.run(
          {
            ...context,
            call(operation, sent) {
              fields = (sent as { fields?: string[] }).fields ?? fields;
              return context.call(operation, sent);
            },
          },
          args,
        );
        if (rowCount < ROWS / 2) throw new Error(`${rowCount} deductions`);
      };
      const onlyRead = async (): Promise<void> => {
        const filters = { deductionAmount: { gt: 0 } };
        const { rowCount } = await readPayments(
          context,
          { source: "cashapp", fields, filters },
          () => {},
        );
        if (rowCount !== ROWS) throw new Error(`${rowCount} rows`);
        await readDisputes(context, OPEN_OR_CLOSED, () => {});
      };
      try {
        // The first run records the fields that the insight reads.
        await ours();
        return await interleaved(
          { ours: () => cpuMs(ours), base: () => cpuMs(onlyRead) },
          atMost(MOST_RUNS, options, 0),
        );
      } finally {
        await bench.close();
      }
    },
  },
];
