import type { Reporter } from "vitest/node";

/** A reporter that prints the `count` test files that took the longest, slowest first. */
export const slowestFiles = (count: number): Reporter => ({
  onTestRunEnd(modules) {
    const timed = modules.map((module) => {
      const { duration, setupDuration, collectDuration } = module.diagnostic();
      return { path: module.relativeModuleId, ms: duration + setupDuration + collectDuration };
    });
    if (timed.length <= count) return;
    const lines = timed
      .toSorted((left, right) => right.ms - left.ms)
      .slice(0, count)
      .map(({ path, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${path}\n`);
    process.stdout.write(`\nThe ${count} slowest test files:\n${lines.join("")}`);
  },
});
