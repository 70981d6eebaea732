import { defineConfig } from "vitest/config";

const SECOND = 1000;

export default defineConfig({
  test: {
    pool: "threads",
    globalSetup: "test/support/postgres.ts",
    restoreMocks: true,
    // What other processes do takes as long as the machine is busy; one second is no verdict.
    expect: { poll: { timeout: 30 * SECOND } },
    // On a machine that is shared, a test fails when it fails twice; the report names those that needed it.
    // oxlint-disable-next-line node/no-process-env -- where it runs, which no setting of ours says
    retry: process.env["CI"] === undefined ? 0 : 1,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts", "tools/**/*.ts", "prompts/**/*.ts"],
      reporter: ["text-summary"],
      thresholds: { lines: 90 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: "parts",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**"],
          maxWorkers: 2,
          testTimeout: 60 * SECOND,
          hookTimeout: 120 * SECOND,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // Whole processes, some with a time they must keep: after the rest, one file at a time.
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          maxWorkers: 1,
          testTimeout: 120 * SECOND,
          hookTimeout: 120 * SECOND,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
