import { doorBenchmarks } from "./http/index.ts";
import { clientBenchmarks } from "./client/index.ts";
import type { Benchmark } from "./measure.ts";
import { readingBenchmarks } from "./insights/index.ts";
import { auditBenchmarks } from "./platform/audit.ts";
import { demoBenchmarks } from "./platform/demo.ts";
import { exportBenchmarks } from "./platform/exports.ts";
import { fairnessBenchmarks } from "./platform/fairness.ts";
import { httpBenchmarks } from "./platform/http.ts";
import { importBenchmarks } from "./platform/import.ts";
import { bankBenchmarks } from "./platform/import-bank.ts";
import { insightBenchmarks } from "./platform/insights.ts";
import { nodeBenchmarks } from "./platform/nodes.ts";
import { paymentBenchmarks } from "./platform/payments.ts";
import { scaleBenchmarks } from "./platform/scale.ts";
import { webhookBenchmarks } from "./platform/webhooks.ts";
import { stdioBenchmarks } from "./stdio/index.ts";
import { workBenchmarks } from "./analysis/index.ts";

/** Every benchmark, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  ...stdioBenchmarks,
  ...clientBenchmarks,
  ...doorBenchmarks,
  ...httpBenchmarks,
  ...auditBenchmarks,
  ...scaleBenchmarks,
  ...nodeBenchmarks,
  ...fairnessBenchmarks,
  ...importBenchmarks,
  ...bankBenchmarks,
  ...exportBenchmarks,
  ...paymentBenchmarks,
  ...insightBenchmarks,
  ...webhookBenchmarks,
  ...readingBenchmarks,
  ...demoBenchmarks,
  ...workBenchmarks,
];
