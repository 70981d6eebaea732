import type { Benchmark } from "./measure.ts";

export const stdioBenchmarks: readonly Benchmark[] = [];
