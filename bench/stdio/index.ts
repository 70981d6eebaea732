import type { Benchmark } from "../measure.ts";
import { restBenchmarks } from "./rest.ts";
import { startBenchmarks } from "./start.ts";
import { warmBenchmarks } from "./warm.ts";

/** The built program as hosts start it, over its standard streams. */
export const stdioBenchmarks: readonly Benchmark[] = [
  ...startBenchmarks,
  ...warmBenchmarks,
  ...restBenchmarks,
];
