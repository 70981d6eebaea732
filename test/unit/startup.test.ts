import { afterEach, describe, expect, it, vi } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import type { Io } from "../../src/bin/commands/io.ts";
import { createStartup } from "../../src/bin/commands/startup.ts";
import { createLog, setLogFormat } from "../../src/kit/log.ts";
import { verifies } from "../support/verifies.ts";

afterEach(() => setLogFormat("json"));

/** Creates the output of a start, and collects what reaches standard error. */
const start = (env: Record<string, string>, tellsPerson: boolean) => {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    lines.push(String(text).trimEnd());
    return true;
  });
  const config = readConfig({ env, dataFolder: "/data", readFile: () => "" });
  const tell = (line: string): void => void lines.push(line);
  return { ...createStartup({ config, tellsPerson, notify: tell } as Io), lines };
};

describe("the output of a server's start", () => {
  verifies("HS-09");
  it("holds warnings at a terminal until the start has ended, and logs no requests", () => {
    setLogFormat("text");
    const { log, isPerson, release, lines } = start({}, true);
    expect(isPerson).toBe(true);
    log.info("http.request", { status: 200 });
    log.warn("master_key.open", { path: "/data/secret.key", hint: "chmod 600 /data/secret.key" });
    expect(lines).toEqual([]);
    release();
    log.warn("job.failed", { kind: "export" });
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d warn {2}master_key\.open path=\/data\/secret\.key hint="chmod 600 \/data\/secret\.key"$/,
      ),
      expect.stringMatching(/ warn {2}job\.failed kind=export$/),
    ]);
  });

  verifies("HS-09");
  it.each([
    ["no terminal", {}, false],
    ["a terminal with --log json", { RECEIVABLES_LOG: "json" }, true],
  ])("is JSON lines at once with %s", (_what, env, tellsPerson) => {
    const { log, isPerson, progress, lines } = start(env, tellsPerson);
    expect(isPerson).toBe(false);
    progress({ name: "users", done: 0, total: 2 });
    progress({ name: "accounts", done: 1, total: 2 });
    log.info("server.started");
    expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      "demo.creating",
      "server.started",
    ]);
  });

  it("has the level that the settings give, also at a terminal", () => {
    setLogFormat("text");
    const { log, release, lines } = start({ RECEIVABLES_LOG: "info" }, true);
    release();
    log.info("server.started", { stack: "at a line" });
    expect(lines).toEqual([expect.stringMatching(/ info {2}server\.started$/)]);
  });

  it("escapes controls in text, too", () => {
    setLogFormat("text");
    const lines: string[] = [];
    createLog("info", (line) => lines.push(line)).info("x.y", { name: "a\u001b[2J" });
    expect(lines.join("")).not.toContain("\u001b");
  });
});
