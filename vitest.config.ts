import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { createRunReport } from "./test/support/run-report.ts";
import { createRunFolder, findFastFolder } from "./test/support/temporary-folder.ts";

const SECOND = 1000;

/** An end-to-end run of the main job, in `npm test` too: a ledger is imported and its disputes are triaged. */
const MAIN_JOB = "test/e2e/import-triage.test.ts";

/**
 * Series of generated or repeated cases, of which `npm test` runs the first ones and `npm run test:all` all: see
 * `extentOf`.
 */
const SERIES = [
  "test/platform/{account-chains,credit-applications,payment-matches-model,payments-model}.test.ts",
  "test/unit/{scan-junk,scan-limits}.test.ts",
];

/** Faults, crash loops and other clients: `npm run test:all` runs them, `npm test` does not. */
const SLOW = [
  "test/fault/**/*.test.ts",
  "test/{linear,linear-files,linear-scanners}.test.ts",
  "test/mcp/{every-tool,inspector-tools}.test.ts",
  "test/money/mixtures.test.ts",
  "test/oauth/pages.test.ts",
  "test/platform/{demo-load,export-runs-recovery,slow-readers,slow-sockets,webhook-recovery}.test.ts",
  "test/platform/{audit-pages,dispute-removal,pdf-streaming,scan-fairness,score-fairness}.test.ts",
  "test/platform/{attachment-corpus,file-store-faults,ingest-junk,login-limits,simulation}.test.ts",
  "test/platform/{several-limiters,tenant-move}.test.ts",
  "test/simulation/{mistakes,seeds}.test.ts",
  "test/store/{key-rotation,payments}.test.ts",
  "test/unit/{saved-tables-office,scan-clamd,scan-name-and-size}.test.ts",
];

/** Files like the others of `npm test`, which would take too long with them. */
const LONG = [
  "test/dry-run.test.ts",
  "test/insights/{account-statement,changes-since,clock-changes,disputes-summary}.test.ts",
  "test/insights/{disputes-triage,families,many-reopenings}.test.ts",
  "test/insights/{missing-rights,payments-summarize,precedents,receivables-kpis}.test.ts",
  "test/insights/triage-ranked.test.ts",
  "test/mcp/{bounded-names,clean,confirm,confirm-client,demo-answers,dispute-packet,disputes-apply,disputes-open}.test.ts",
  "test/mcp/{documented-platform,insight-cursors,known-numbers,reach,research}.test.ts",
  "test/mcp/{round-trip,saved-tables,secret-pages,stream-revocation,subscriptions}.test.ts",
  "test/mcp/{unasked,usable-tools,whole-results}.test.ts",
  "test/money/orders.test.ts",
  "test/oauth/{authorize,limits,store,tokens}.test.ts",
  "test/platform/{attachment-transfers,demo,export-runs,file-store,import-disputes-again}.test.ts",
  "test/platform/{import-batches,import-doubts,import-joining,import-many,import-records}.test.ts",
  "test/platform/{import-undo,ingest-status,jobs,past-balances,payment-matches,payments}.test.ts",
  "test/platform/{pdf-ingestion,public-routes,retention,tenant-archives,tenant-days}.test.ts",
  "test/platform/tenant-pause.test.ts",
  "test/store/{audit-seal,compatible-schema,disputes,plans}.test.ts",
  "test/unit/{client-misbehaviour,import-suggest}.test.ts",
];

/** They need packages of `tooling/package.json`, which `npm ci` does not install. */
const WITH_TOOLING = [
  "test/{derived,shape}.test.ts",
  "test/mcp/{file-text,ingest,resource-pages}.test.ts",
  "test/unit/{evals-players,file-text-attacks,file-text-formats,scan-pdf,scan-xml-invoices}.test.ts",
];

/** Files that replace modules, which the other files of the same worker would see too. */
const MOCKING = [
  "test/mcp/sanitized-length.test.ts",
  "test/unit/{files-outage,scan-built-in,webhook-send}.test.ts",
];

/** They take longest in their project: begun last, each would keep one processor busy and the other idle. */
const LONGEST = [
  "fault/input",
  "simulation/seeds",
  "fault/soak",
  "e2e/page-work",
  "e2e/cli-servers",
  "fault/crash",
  "e2e/views",
  "e2e/nodes-restart",
  "mcp/inspector-tools",
  "fault/runs-crash",
  "money/mixtures",
  "e2e/contributing",
  "platform/payments",
  "dry-run",
  "matrix",
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? LONGEST.length : place;
};

/** Begins the longest files first; without the times of a run before, the others are begun by their sizes. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of the base class, not of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => placeOf(left) - placeOf(right));
  }
}

/**
 * One more than processors that CI has, because a third of a worker's time waits for PostgreSQL, for other processes and
 * for hashes.
 */
const WORKERS = 3;

/** The compiled code of programs that tests start: compiling it takes most of the time of a short command. */
const programs = { NODE_COMPILE_CACHE: createRunFolder(tmpdir()) };

/** Where an installed program finds the packages that are not built into it. */
const PACKAGES = join(import.meta.dirname, "node_modules");

/** The built program, which starts in half the time of the sources: `test/support/global-setup.ts` builds it. */
const built = { ...programs, TESTED_PROGRAM: join(createRunFolder(PACKAGES), "dist", "cli.js") };

/** Folders that tests create in it are removed with it. */
const inMemory = { TMPDIR: createRunFolder(findFastFolder()) };

// oxlint-disable-next-line node/no-process-env -- where it runs, which no setting of ours says
const { CI, FAILED_FILES } = process.env;

export default defineConfig({
  test: {
    pool: "threads",
    globalSetup: "test/support/global-setup.ts",
    sequence: { sequencer: LongestFirst },
    restoreMocks: true,
    // Other processes take as long as the machine is busy, so the default of one second is too short.
    expect: { poll: { timeout: 30 * SECOND } },
    // On a machine that is shared, a test fails when it fails twice; the report names those that needed it.
    retry: CI === undefined ? 0 : 1,
    reporters: [createRunReport(10, FAILED_FILES), "default"],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts", "tools/**/*.ts", "prompts/**/*.ts"],
      // Runs in browsers.
      exclude: ["src/views/app/**"],
      reporter: ["text-summary"],
      // Code in worker threads and other processes is not counted.
      thresholds: { lines: 83 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          provide: { runsWholeSeries: false },
          env: { ...programs, ...inMemory },
          include: ["test/*.test.ts", "test/!(e2e)/**/*.test.ts", MAIN_JOB],
          exclude: [...SLOW, ...LONG, ...WITH_TOOLING, ...MOCKING],
          // Loading the contract and the libraries again for each file would take a fifth of the time.
          isolate: false,
          maxWorkers: WORKERS,
          testTimeout: 60 * SECOND,
          hookTimeout: 120 * SECOND,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "mocking",
          env: inMemory,
          include: MOCKING,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          env: built,
          provide: { runsWholeSeries: true },
          include: [...SLOW, ...WITH_TOOLING, ...SERIES],
          maxWorkers: WORKERS,
          testTimeout: 120 * SECOND,
          hookTimeout: 120 * SECOND,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "long",
          env: { ...programs, ...inMemory },
          provide: { runsWholeSeries: true },
          include: LONG,
          isolate: false,
          maxWorkers: WORKERS,
          testTimeout: 60 * SECOND,
          hookTimeout: 120 * SECOND,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          env: built,
          provide: { runsWholeSeries: true },
          include: ["test/e2e/**/*.test.ts"],
          maxWorkers: WORKERS,
          testTimeout: 120 * SECOND,
          hookTimeout: 120 * SECOND,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
