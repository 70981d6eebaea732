import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

const print = (title: string, lines: readonly string[]): void => {
  process.stdout.write(`\n${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`);
};

const printSlowest = (modules: readonly TestModule[], count: number): void => {
  if (modules.length <= count) return;
  const timed = modules.map((module) => {
    const { duration, setupDuration, collectDuration } = module.diagnostic();
    return { path: module.relativeModuleId, ms: duration + setupDuration + collectDuration };
  });
  const lines = timed
    .toSorted((left, right) => right.ms - left.ms)
    .slice(0, count)
    .map(({ path, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${path}`);
  print(`The ${count} slowest test files`, lines);
};

// A test that always fails first, because of what its first try leaves behind, would stay unseen without this list.
const printSecondTries = (modules: readonly TestModule[]): void => {
  const lines = modules.flatMap((module) =>
    [...module.children.allTests()]
      .filter((test) => test.diagnostic()?.flaky === true)
      .map((test) => `${module.relativeModuleId}: ${test.fullName}`),
  );
  if (lines.length > 0) print("Tests that passed only at their second try", lines);
};

/**
 * A reporter that prints the `count` test files that took the longest, and the tests that passed only when repeated. It
 * writes the paths of files with a failed test to `failedPath`, one a line.
 */
export const createRunReport = (count: number, failedPath: string | undefined): Reporter => ({
  onTestRunEnd(modules) {
    printSlowest(modules, count);
    printSecondTries(modules);
    if (failedPath === undefined) return;
    const failed = modules.filter((module) => !module.ok());
    writeFileSync(failedPath, failed.map((module) => `${module.relativeModuleId}\n`).join(""));
  },
});
