import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import { HOSTS, connectModern, createOptions, withoutAbout } from "./hosts.ts";
import { createMany } from "./records.ts";
import { type ScriptedReply, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const run = (number: number, more: object = {}) => ({
  runId: `run-${number}`,
  scheduleId: "s-1",
  status: "completed",
  startedAt: "2026-11-20T00:00:00.000Z",
  completedAt: "2026-11-20T00:00:01.000Z",
  rowCount: 3,
  errorStage: null,
  errorDetail: null,
  ...more,
});

const FAILED = run(2, {
  status: "failed",
  errorStage: "limit",
  errorDetail: "Too many\u202e rows.",
});
const SCHEDULE = { id: "s-1", nextRunAt: "2026-11-22T00:00:00.000Z", deleted: false };
const rows = createMany(250, (index) => ({ id: `row-${index}`, payerName: "Acme ".repeat(10) }));

/** Rows of a run; each request without a run id returns a newer run. */
const changing = (): ScriptedReply => {
  let newest = 0;
  return ({ scheduleId, runId, cursor, limit }) => {
    if (runId === undefined) newest += 1;
    const id = runId ?? `run-${newest}`;
    const from = Number(cursor ?? 0);
    const to = Math.min(rows.length, from + Number(limit));
    const hasMore = to < rows.length;
    const data = rows.slice(from, to).map((row) => ({ ...row, of: id }));
    return {
      runId: id,
      scheduleId,
      status: "completed",
      completedAt: "2026-11-20T00:00:01.000Z",
      data,
      pagination: { cursor: hasMore ? String(to) : null, hasMore, rowCount: data.length },
    };
  };
};

const PLAYS = (): Record<string, ScriptedReply> => ({
  "schedules.list": () => ({
    data: [
      { id: "s-1", scheduleName: "Nightly", source: "cashapp", intervalMs: 86_400_000 },
      { id: "s-2", scheduleName: null, source: "bpn", intervalMs: 300_000 },
    ],
  }),
  "schedules.delete": () => null,
  "export_runs.status": ({ scheduleId }) => {
    if (scheduleId !== "s-1") throw new Problem("not_found", "There is no such schedule.");
    const data = [run(3), FAILED, run(1)];
    return { schedule: SCHEDULE, data, pagination: { cursor: null, hasMore: false, rowCount: 3 } };
  },
  "export_runs.data": changing(),
});

type Contents = { contents: { text?: string }[] };
const textIn = (result: unknown): string => (result as Contents).contents[0]?.text ?? "";

describe.each(HOSTS)("exports (%s)", (_name, open) => {
  verifies("SC-11", "T-21");
  it("returns the rows of one run across results, even if newer runs finish", async () => {
    const broker = scriptBroker(PLAYS());
    const host = await open(await createOptions(broker, { settings: { answerTokens: 4000 } }));
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const args: Record<string, unknown> = cursor === null ? {} : { cursor };
      const result = await host.client.callTool({
        name: "export_runs_data",
        arguments: { scheduleId: "s-1", ...args },
      });
      const answer = result.structuredContent as {
        runId: string;
        status: string;
        data: { id: string; of: string }[];
        pagination: { cursor: string | null; hasMore: boolean };
      };
      expect(answer).toMatchObject({ runId: "run-1", scheduleId: "s-1", status: "completed" });
      seen.push(...answer.data);
      ({ cursor } = answer.pagination);
      expect(answer.pagination.hasMore).toBe(cursor !== null);
    } while (cursor !== null);
    expect(seen).toEqual(rows.map((row) => ({ ...row, payerName: row.payerName, of: "run-1" })));
    const asked = broker.seen.filter(({ id }) => id === "export_runs.data");
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.slice(1).every(({ args }) => args["runId"] === "run-1")).toBe(true);
  });

  verifies("SC-14");
  it("returns the schedule with its runs in the status", async () => {
    const host = await open(await createOptions(scriptBroker(PLAYS())));
    const result = await host.client.callTool({
      name: "export_runs_status",
      arguments: { scheduleId: "s-1" },
    });
    expect(withoutAbout(result)).toEqual({
      schedule: SCHEDULE,
      data: [run(3), { ...FAILED, errorDetail: "Too many rows." }, run(1)],
      pagination: { cursor: null, hasMore: false, rowCount: 3 },
      truncated: false,
    });
  });

  it("serves a schedule's runs, and one run with its first rows, as resources", async () => {
    const host = await open(
      await createOptions(scriptBroker(PLAYS()), { settings: { answerTokens: 3000 } }),
    );
    const read = async (uri: string) => {
      const text = textIn(await host.client.readResource({ uri }));
      expect(estimateTokens(text)).toBeLessThanOrEqual(3000);
      return JSON.parse(text);
    };
    expect(await read("receivables://export-runs/s-1")).toEqual({
      schedule: SCHEDULE,
      runs: {
        items: [run(3), { ...FAILED, errorDetail: "Too many rows." }, run(1)],
        total: null,
        truncated: false,
      },
    });
    const one = await read("receivables://export-runs/s-1/run-1");
    expect(one.run).toEqual(run(1));
    expect(one.rows.items[0]).toMatchObject({ id: "row-0", of: "run-1" });
    expect(one.rows.truncated).toBe(true);
    expect(await read("receivables://export-runs/s-1/run-2")).toEqual({
      run: { ...FAILED, errorDetail: "Too many rows." },
    });
    for (const uri of ["s-9", "s-1/run-1/more", "s-1/", ""]) {
      await expect(
        host.client.readResource({ uri: `receivables://export-runs/${uri}` }),
      ).rejects.toThrow(/not found/i);
    }
  });
});

describe("exports", () => {
  it("completes schedules by id or name, and the runs of the chosen schedule", async () => {
    const host = await connectModern(await createOptions(scriptBroker(PLAYS())));
    const complete = async (name: string, value: string, given?: Record<string, string>) => {
      const { completion } = await host.client.complete({
        ref: {
          type: "ref/resource",
          uri: "receivables://export-runs/{scheduleId}/{runId}",
        },
        argument: { name, value },
        ...(given === undefined ? {} : { context: { arguments: given } }),
      });
      return completion.values;
    };
    expect(await complete("scheduleId", "")).toEqual(["s-1", "s-2"]);
    expect(await complete("scheduleId", "nigh")).toEqual(["s-1"]);
    expect(await complete("scheduleId", "s-2")).toEqual(["s-2"]);
    expect(await complete("runId", "run", { scheduleId: "s-1" })).toEqual([
      "run-3",
      "run-2",
      "run-1",
    ]);
    expect(await complete("runId", "run")).toEqual([]);
    expect(await complete("runId", "run", { scheduleId: "s-9" })).toEqual([]);
  });
});
