import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { type Host, connectModern, createOptions, NOW, readProblem, type Result } from "./hosts.ts";
import { createAuditEntry, dispute } from "./records.ts";
import { createReply, type ScriptedReply, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

type Given = { count: number; truncated: boolean; cursor: string | null };

const given = ({ isError, structuredContent }: Result): Given => {
  expect(isError).not.toBe(true);
  const { items, data, pagination, truncated, nextCursor } = structuredContent as {
    items?: unknown[];
    data?: unknown[];
    pagination?: { cursor: string | null };
    truncated: boolean;
    nextCursor?: string | null;
  };
  return {
    count: (items ?? data ?? []).length,
    truncated,
    cursor: nextCursor ?? pagination?.cursor ?? null,
  };
};

/** A platform with one list. It counts the requests; with `slow` each page takes a minute. */
const platform = async (
  id: string,
  play: ScriptedReply,
  { minutes = 0, answerTokens = 20_000 } = {},
) => {
  let now = NOW;
  const broker = scriptBroker({
    [id]: (args, options) => {
      now += minutes * MINUTE;
      return play(args, options);
    },
  });
  const settings = { answerTokens };
  const host: Host = await connectModern(await createOptions(broker, { now: () => now, settings }));
  return { host, asked: () => broker.seen.length };
};

let made = 0;
const page = (size: number) =>
  Array.from({ length: size }, () => dispute(made++, { poNumber: "" }));
const log = (size: number, cursor: string | null, hasMore = true) => ({
  data: Array.from({ length: size }, () => createAuditEntry(made++)),
  pagination: { cursor, hasMore, rowCount: size },
});

verifies("C-73");
describe("a list that never ends", () => {
  it("is read until the budget is full, and continued by a cursor", async () => {
    const { host, asked } = await platform("disputes.list", () => createReply(page(100), {})());
    const { count, truncated, cursor } = given(await host.call("disputes_list"));
    expect(count).toBeGreaterThan(10);
    expect([truncated, typeof cursor]).toEqual([true, "string"]);
    expect(asked()).toBeLessThan(5);
    const more = given(await host.call("disputes_list", { cursor }));
    expect(more.count).toBeGreaterThan(10);
  });

  it("is given up after fifty empty pages", async () => {
    let pages = 0;
    const play = () => log(0, `page-${pages++}`);
    const { host, asked } = await platform("audit_logs.list", play);
    const { count, truncated, cursor } = given(await host.call("audit_logs_list"));
    expect([count, truncated, typeof cursor]).toEqual([0, true, "string"]);
    expect(asked()).toBe(50);
  });

  it("is given up after a while, with the records that have arrived", async () => {
    let pages = 0;
    const play = () => log(1, `page-${pages++}`);
    const { host, asked } = await platform("audit_logs.list", play, { minutes: 1 });
    const { count, cursor } = given(await host.call("audit_logs_list"));
    expect([count, typeof cursor]).toEqual([1, "string"]);
    const more = given(await host.call("audit_logs_list", { cursor }));
    expect([more.count, asked()]).toEqual([1, 2]);
  });

  const same = page(100);
  const tail = log(3, "a");
  const REPEATING: [string, string, ScriptedReply][] = [
    ["whose cursor leads to itself", "audit_logs.list", () => log(1, "again")],
    [
      "with repeating cursors",
      "audit_logs.list",
      ({ cursor }) => log(1, cursor === "a" ? "b" : "a"),
    ],
    [
      "with repeating records under new cursors",
      "audit_logs.list",
      ({ cursor }) => ({
        ...tail,
        pagination: { ...tail.pagination, cursor: `${String(cursor)}.` },
      }),
    ],
    ["that says there is more, but not where", "audit_logs.list", () => log(1, null)],
    ["whose every page is the first", "disputes.list", createReply(same, {})],
    ["whose every page is the first of many", "disputes.list", createReply(same, { total: 9000 })],
  ];
  it.each(REPEATING)("%s is reported as unavailable", async (_what, id, play) => {
    const { host, asked } = await platform(id, play, { answerTokens: 1_000_000 });
    const result = await host.call(id.replace(".", "_"));
    expect(readProblem(result).code).toBe("unavailable");
    expect(asked()).toBeLessThan(5);
  });
});
