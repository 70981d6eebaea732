import { readdirSync, readFileSync } from "node:fs";

const NANOSECONDS = 1e6;
const KIB_PER_MIB = 1024;

/**
 * Returns the CPU time of another process so far, in milliseconds. The scheduler's own account is exact; the usual one
 * counts in hundredths of a second.
 */
export const readCpuMsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8"))
    .reduce((sum, line) => sum + Number(line.split(" ")[0]) / NANOSECONDS, 0);

/** Returns the memory that a process occupies. */
export const readMemoryMibOf = (pid: number): number => {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / KIB_PER_MIB;
};
