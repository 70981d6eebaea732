import { createReadStream } from "node:fs";
import { mkdtemp, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeEach, describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import {
  type CalledTool,
  callLogFiles,
  createCallLog,
  MOST_BYTES,
} from "../../src/mcp/tools/call-log.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createCallTool } from "../../src/mcp/tools/call.ts";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { fakeClock } from "../support/clock.ts";
import { verifies } from "../support/verifies.ts";
import { ALL, createLineLog, KEY, createOptions } from "./hosts.ts";
import { scriptBroker } from "./script.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "call-log-"));
  path = join(folder, "logs", "audit.ndjson");
});

const clock = fakeClock();
const log = (key = KEY, at = path) =>
  createCallLog({ path: at, transport: "stdio", key, now: clock, log: silentLog });

const CALL: CalledTool = {
  caller: "own",
  tenantId: "acme",
  principal: "ann",
  tool: "disputes_create",
  args: { poNumber: "canary-po", amount: 12.5 },
  outcome: "done",
  ms: 7,
  requestId: "r-1",
};

const lines = async (file = path): Promise<Record<string, unknown>[]> =>
  (await readFile(file, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("the log of tool calls", () => {
  verifies("C-74");
  it("has one line for a call, for every reader of lines", async () => {
    await log().record({ ...CALL, args: { "a\u2028b\u009b": 1 } });
    const read: string[] = [];
    for await (const line of createInterface({ input: createReadStream(path) })) read.push(line);
    expect(read.map((line) => JSON.parse(line))).toMatchObject([{ arguments: ["a\u2028b\u009b"] }]);
  });

  it("records caller, tool and outcome, and no values", async () => {
    await log().record(CALL);
    const [line] = await lines();
    expect(line).toEqual({
      time: "2026-03-02T09:00:00.000Z",
      door: "stdio",
      caller: "own",
      tenantId: "acme",
      principal: "ann",
      tool: "disputes_create",
      arguments: ["amount", "poNumber"],
      argumentsHash: expect.stringMatching(/^[\w-]{22}$/),
      outcome: "done",
      ms: 7,
      requestId: "r-1",
    });
    expect(JSON.stringify(line)).not.toMatch(/canary|12\.5/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("identifies equal arguments by a keyed hash", async () => {
    const { amount, poNumber } = CALL.args;
    await log().record(CALL);
    await log().record({ ...CALL, args: { amount, poNumber } });
    await log().record({ ...CALL, args: { amount: 13, poNumber } });
    await log(Buffer.alloc(32, 9)).record(CALL);
    const hashes = (await lines()).map((line) => line["argumentsHash"]);
    expect(hashes[1]).toBe(hashes[0]);
    expect(new Set(hashes).size).toBe(3);
  });

  it("keeps the lines of concurrent writers whole", async () => {
    const writers = Array.from({ length: 8 }, () => log());
    const calls = writers.flatMap((writer, index) =>
      Array.from({ length: 25 }, () => writer.record({ ...CALL, ms: index })),
    );
    await Promise.all(calls);
    expect(await lines()).toHaveLength(200);
  });

  it("starts a new file when one is full, and removes the oldest", async () => {
    await log().record({ ...CALL, ms: 0 });
    for (let file = 1; file <= 11; file++) {
      await truncate(path, MOST_BYTES);
      clock.advance(1000);
      await log().record({ ...CALL, ms: file });
    }
    const files = await callLogFiles(path);
    expect(files).toHaveLength(10);
    expect(files.at(-1)).toBe(path);
    expect(files).toEqual(files.slice(0, -1).toSorted().concat(path));
    expect((await lines())[0]).toMatchObject({ ms: 11 });
  });

  it("finds only its own files, even if the name has special characters", async () => {
    const odd = join(folder, "tool calls (1).log");
    await writeFile(join(folder, "tool calls (1)-notes.log"), "");
    await log(KEY, odd).record(CALL);
    await truncate(odd, MOST_BYTES);
    await log(KEY, odd).record(CALL);
    const files = await callLogFiles(odd);
    expect(files).toHaveLength(2);
    expect(files.join()).not.toContain("notes");
  });

  it("does not fail a call when it cannot write", async () => {
    await writeFile(join(folder, "file"), "");
    const kept = createLineLog();
    const at = join(folder, "file", "audit.ndjson");
    const blocked = createCallLog({
      path: at,
      transport: "http",
      key: KEY,
      now: clock,
      log: kept.log,
    });
    await expect(blocked.record(CALL)).resolves.toBeUndefined();
    expect(kept.lines.join()).toContain("call_log.failed");
  });

  it("has a line for every call: executed, to be confirmed or refused", async () => {
    const broker = scriptBroker({
      "departments.get_by_id": () => ({ departmentId: "d" }),
      "departments.get": () => {
        throw new Problem("not_found", "There is none.", { requestId: "r-9" });
      },
    });
    const needs = await createOptions(broker, { callLog: log() });
    const call = createCallTool(needs);
    const tools = new Map(activeTools(ALL).map((tool) => [tool.name, tool]));
    const ask = async (name: string, args: Record<string, unknown>) => {
      const tool = tools.get(name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const { signal } = new AbortController();
      const host = { asks: "by_round", responses: undefined, state: undefined } as const;
      const opens = { opens: "never" } as const;
      const ways = { client: "client-1", session: "session-1", host, showsViews: false, opens };
      await call({ ...ways, tool, args, signal, progress: async () => {} });
    };
    await ask("departments_get", { departmentCode: "A" });
    await ask("departments_delete", { departmentId: "d" });
    await ask("departments_delete", { nonsense: 1 });
    expect((await lines()).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ["departments_get", "not_found"],
      ["departments_delete", "asked"],
      ["departments_delete", "invalid_request"],
    ]);
    expect((await lines())[0]).toMatchObject({ requestId: "r-9" });
  });
});
