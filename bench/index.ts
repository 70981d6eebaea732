import type { Benchmark } from "./measure.ts";
import { stdioBenchmarks } from "./stdio.ts";

/** Every benchmark, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [...stdioBenchmarks];
