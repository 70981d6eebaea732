import type { Benchmark } from "../measure.ts";
import { claimBenchmarks } from "./claims.ts";
import { deductionBenchmarks } from "./deductions.ts";
import { packetBenchmarks } from "./packets.ts";
import { pastDayBenchmarks } from "./past-days.ts";
import { saveBenchmarks } from "./save.ts";

/** The work that answers support, from past days to tables; `npm run bench -- work` runs these alone. */
export const workBenchmarks: readonly Benchmark[] = [
  ...pastDayBenchmarks,
  ...deductionBenchmarks,
  ...claimBenchmarks,
  ...packetBenchmarks,
  ...saveBenchmarks,
];
