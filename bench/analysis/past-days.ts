import { atMost, type Benchmark, interleaved } from "../measure.ts";
import { fillDocuments } from "../platform/listed-rows.ts";
import { ask, STORES } from "../platform/served.ts";

const DOCUMENTS = Number(process.env["BENCH_DOCUMENTS"] ?? 1_000_000);
const MOST_RUNS = 7;
const SUMMARY = "/api/v1/ingest/documents/summary";

/** One in ten documents is open; those of the fill were issued on 1,000 days from 2024. */
const PAST_DAY = "2026-08-31";
const GROUPS = { groupBy: ["account", "age"], limit: 50 };

/** Receivables as of a past day, against those of today. */
export const pastDayBenchmarks: readonly Benchmark[] = Object.entries(STORES).map(
  ([store, { open, cost, unit }]): Benchmark => ({
    name: `work-documents-past-${store}`,
    about: `documents.summary as of a past day over ${DOCUMENTS} documents on ${store} / as of now`,
    unit,
    aim: 1.5,
    why: "documents that have changed since are read besides those that are open now",
    async run(options) {
      const bench = await open();
      await fillDocuments(bench.store, bench.ledgers[0].tenantId, DOCUMENTS);
      await bench.settle();
      try {
        return await interleaved(
          {
            ours: () => cost(() => ask(bench, SUMMARY, { ...GROUPS, asOf: PAST_DAY })),
            base: () => cost(() => ask(bench, SUMMARY, GROUPS)),
          },
          atMost(MOST_RUNS, options),
        );
      } finally {
        await bench.close();
      }
    },
  }),
);
