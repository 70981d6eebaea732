import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { serveConformance, serveOwn } from "../support/conformance/server.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const SUITE = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance");
const SCENARIO_MS = 30_000;

/** Scenarios that the suite runs without scoring them, and that do not pass: each with the reason. */
const EXPECTED: Record<string, Record<string, string>> = {
  "2025-11-25": {
    "server-sse-polling": "streams are not resumed: nothing is kept for a host that has gone",
  },
  "2026-07-28": Object.fromEntries(
    [
      "lifecycle",
      "capability-negotiation",
      "wire-fields",
      "request-state-removal",
      "mrtr-input",
      "request-headers",
      "dispatch-and-envelope",
      "status-notifications",
      "required-task-error",
      "mrtr-composition",
    ].map((name) => [`tasks-${name}`, "tasks are an extension that this server does not have"]),
  ),
};

const SKILL_SCENARIOS = ["enumeration", "manifest", "directory"].map(
  (name) => `sep-2640-skills-${name}`,
);

type Check = { id: string; status: string; errorMessage?: string };
type Verdict = { passed: boolean; faults: string[] };

/** Every check must have succeeded, and one of them must have been the scenario's own. */
const verdictOf = (checks: Check[]): Verdict => {
  const faults = checks
    .filter(({ status }) => status !== "SUCCESS" && status !== "INFO")
    .map(({ id, status, errorMessage = "" }) => `${status} ${id}: ${errorMessage}`);
  const own = checks.filter(({ id, status }) => status === "SUCCESS" && id !== "wire-schema-valid");
  return { passed: faults.length === 0 && own.length > 0, faults };
};

/** The scenarios that a revision demands of servers, as the suite's own list has them. */
const requiredBy = async (revision: string): Promise<string[]> => {
  const list = await readFile(join(SUITE, "requirements", `${revision}.yaml`), "utf8");
  const [, names = ""] = /^server:\n((?: {2}- .*\n)+)/m.exec(list) ?? [];
  return [...names.matchAll(/- (\S+)/g)].map(([, name = ""]) => name);
};

const run = (args: string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(SUITE, "dist/index.js"), "server", ...args, "--timeout", String(SCENARIO_MS)],
      { maxBuffer: 1 << 26 },
      (_error, stdout, stderr) => {
        resolve(stdout + stderr);
      },
    );
  });

const resultsIn = async (folder: string): Promise<Map<string, Verdict>> => {
  const names = await readdir(folder);
  const results = await Promise.all(
    names.map(async (name) => {
      const checks = await readFile(join(folder, name, "checks.json"), "utf8");
      const [, scenario = name] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name) ?? [];
      return [scenario, verdictOf(JSON.parse(checks) as Check[])] as const;
    }),
  );
  return new Map(results);
};

const folder = useFolder();
describe.each(Object.keys(EXPECTED))("the official suite, revision %s", (revision) => {
  let printed = "";
  let required: string[] = [];
  let results = new Map<string, Verdict>();
  beforeAll(async () => {
    const out = join(folder, revision);
    const server = await serveConformance();
    printed = await run(["--url", server.url, "--requirements", revision, "-o", out]);
    await server.close();
    required = await requiredBy(revision);
    results = await resultsIn(out);
  });

  verifies("C-68");
  it("passes every required scenario, and skips none", () => {
    expect(required.length).toBeGreaterThanOrEqual(30);
    const failed = required.filter((name) => results.get(name)?.passed !== true);
    expect(failed.map((name) => [name, results.get(name)?.faults ?? printed.slice(-2000)])).toEqual(
      [],
    );
  });

  it("passes every other scenario, except those listed with a reason", () => {
    const others = [...results.keys()].filter((name) => !required.includes(name));
    const failed = others.filter((name) => results.get(name)?.passed !== true);
    expect(failed.toSorted()).toEqual(Object.keys(EXPECTED[revision] ?? {}).toSorted());
  });
});

verifies("RC-02");
it.each(Object.keys(EXPECTED))(
  "serves skills as the extension demands, revision %s",
  async (revision) => {
    const out = join(folder, `skills-${revision}`);
    const server = await serveOwn();
    for (const scenario of SKILL_SCENARIOS) {
      await run([
        "--url",
        server.url,
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "--force",
        "-o",
        out,
      ]);
    }
    await server.close();
    const results = await resultsIn(out);
    // Results have cache attributes since 2026.
    const isFault = (fault: string): boolean => !/^SKIPPED \S+-cache-attributes:/.test(fault);
    expect(
      SKILL_SCENARIOS.map((name) => [name, results.get(name)?.faults.filter(isFault)]),
    ).toEqual(SKILL_SCENARIOS.map((name) => [name, []]));
  },
);

it("fails without a server", async () => {
  const out = join(folder, "nobody");
  const server = await serveConformance();
  await server.close();
  await run(["--url", server.url, "--scenario", "tools-list", "-o", out]);
  expect([...(await resultsIn(out)).values()].map(({ passed }) => passed)).toEqual([false]);
});
