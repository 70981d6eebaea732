import { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { INSIGHT_LIMITS } from "../../src/insights/insight.ts";
import { verifies } from "../support/verifies.ts";
import { connectModern, createOptions, NOW, readProblem } from "./hosts.ts";
import { answerIn } from "./insight-host.ts";
import { createMany, dispute, serveAuditPages, servePages } from "./records.ts";
import { type ScriptedReply, scriptBroker } from "./script.ts";
import { serveOverHttp } from "./transports.ts";

const PAGES = 4;
const schedule = (index: number) => ({
  id: `s-${index}`,
  scheduleName: null,
  source: "cashapp",
  intervalMs: 300_000,
  nextRunAt: "2026-11-20T13:00:00.000Z",
});
const listOf = (pages: number): ScriptedReply => servePages(createMany(pages * 1000, dispute));

verifies("IN-05");
describe.each(["auto", "legacy"] as const)("an insight over HTTP (%s)", (mode) => {
  const connect = async (plays: Record<string, ScriptedReply>) => {
    const broker = scriptBroker(plays);
    const server = await serveOverHttp(await createOptions(broker));
    const client = new Client(
      { name: "host", version: "1.0.0" },
      { versionNegotiation: { mode }, capabilities: {} },
    );
    await client.connect(server.transport());
    const close = async () => {
      await client.close();
      await server.close();
    };
    return { broker, client, close };
  };
  const call = { name: "disputes_summary", arguments: {} };

  it.each([
    [
      "disputes_summary",
      { "disputes.list": listOf(PAGES) },
      ["1 Read 1,000 disputes.", "2 Read 2,000 disputes.", "3 Read 3,000 disputes."],
    ],
    [
      "disputes_triage",
      {
        "disputes.list": servePages([dispute(1), dispute(2)]),
        "documents.get": () => ({ status: "open" }),
        "assignees.list": () => [],
        "dispute_notes.list": () => [],
        "dispute_attachments.list": () => [],
      },
      ["1 Read notes and files of 1 of 2 disputes.", "2 Read notes and files of 2 of 2 disputes."],
    ],
    [
      "export_health",
      {
        "schedules.list": () => ({ data: [schedule(1), schedule(2)] }),
        "webhooks.list": () => ({ data: [] }),
        "export_runs.status": () => ({ data: [] }),
      },
      ["1 Examined 1 of 2 schedules.", "2 Examined 2 of 2 schedules."],
    ],
  ])("reports its progress to a host that asks for it: %s", async (name, plays, expected) => {
    const { client, close } = await connect(plays);
    const said: string[] = [];
    const onprogress = (sent: { progress: number; message?: string | undefined }) =>
      said.push(`${sent.progress} ${sent.message}`);
    const result = await client.callTool({ name, arguments: {} }, { onprogress });
    expect(result.isError).not.toBe(true);
    expect(said).toEqual(expected);
    await close();
  });

  it("stops reading when the host cancels", async () => {
    const cancel = new AbortController();
    const list = listOf(PAGES);
    let ended: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => (ended = resolve));
    const { broker, client, close } = await connect({
      "disputes.list": async (args, options) => {
        if (args["Page"] !== 2) return list(args, options);
        const aborted = new Promise<void>((resolve) =>
          options.signal?.addEventListener("abort", () => resolve()),
        );
        cancel.abort();
        await aborted;
        ended?.();
        return list(args, options);
      },
    });
    await expect(client.callTool(call, { signal: cancel.signal })).rejects.toThrow();
    await stopped;
    await close();
    expect(broker.seen.map(({ args }) => args["Page"])).toEqual([1, 2]);
  });
});

verifies("IN-05");
describe("an insight that takes longer than it may", () => {
  const slow = async (replies: Record<string, ScriptedReply>, last: string) => {
    let now = NOW;
    const plays = Object.fromEntries(
      Object.entries(replies).map(([id, reply]): [string, ScriptedReply] => [
        id,
        async (args, options) => {
          if (id === last) now += INSIGHT_LIMITS.ms;
          return reply(args, options);
        },
      ]),
    );
    const broker = scriptBroker(plays);
    const host = await connectModern(await createOptions(broker, { now: () => now }));
    return { broker, host };
  };

  it("answers what it has read, and reads no further page", async () => {
    const { broker, host } = await slow({ "disputes.list": listOf(PAGES) }, "disputes.list");
    const answer = answerIn(await host.call("disputes_summary"));
    expect(answer).toMatchObject({ truncated: true, rowCount: 1000 });
    expect(answer.notes[0]).toContain("Only the first 1,000 disputes were read");
    expect(broker.seen).toHaveLength(1);
  });

  it("names the parts that it has not read", async () => {
    const replies = { "schedules.list": () => ({ data: [schedule(1)] }) };
    const { broker, host } = await slow(replies, "schedules.list");
    const answer = answerIn(await host.call("export_health"));
    expect(answer).toMatchObject({ truncated: true, items: [{ finding: "unknown" }] });
    expect(answer.notes).toContain(
      "Reading took 60 seconds; the parts left out by then are missing.",
    );
    expect(broker.seen.map(({ id }) => id)).toEqual(["schedules.list"]);
  });

  it("finds no records in what it has not read", async () => {
    const none = serveAuditPages([]);
    const replies = {
      "documents.get": () => ({ documentNumber: "X", account_number: "A" }),
      "disputes.list": () => [],
      "payments.query": none,
    };
    const { host } = await slow(replies, "documents.get");
    const result = await host.call("find_records", { text: "X", types: ["document", "payer"] });
    expect(answerIn(result)).toMatchObject({ truncated: true, itemsTotal: 1 });
    expect(readProblem(result)).toBeUndefined();
  });

  it("matches no payments after the disputes took the time", async () => {
    const replies = { "disputes.list": servePages([dispute(1)]) };
    const { broker, host } = await slow(replies, "disputes.list");
    const answer = answerIn(await host.call("payments_match_disputes"));
    expect(answer).toMatchObject({ truncated: true, matches: { none: 1 } });
    expect(answer.notes).toEqual([
      "Payments on 1 documents were not read: reading took 60 seconds.",
    ]);
    expect(broker.seen.map(({ id }) => id)).toEqual(["disputes.list"]);
  });
});

describe("an insight with more items than fit", () => {
  it.each([
    [{}, 6000, true],
    [{ limit: 200 }, 6000, false],
    [{}, 2000, false],
  ])(
    "%j suggests a higher limit only if that has a larger budget",
    async (args, answerTokens, is) => {
      // Long numbers: groups that are shortened do not fit either.
      const toNumber = (index: number): string => `INV-${index}-`.padEnd(250, "x");
      const rows = createMany(300, (index) => dispute(index, { documentNumber: toNumber(index) }));
      const broker = scriptBroker({ "disputes.list": servePages(rows) });
      const host = await connectModern(await createOptions(broker, { settings: { answerTokens } }));
      const groups = { groupBy: ["document"], ...args };
      const { structuredContent = {} } = await host.call("disputes_summary", groups);
      const notes = structuredContent["notes"] as string[];
      const note = notes.find((one) => one.startsWith("The first ")) ?? "";
      expect(note).toMatch(
        /^The first \d+ of 300 items fit; send nextCursor as cursor for more, or narrow the filters/,
      );
      expect(note.includes("ask for a higher limit")).toBe(is);
    },
  );
});
