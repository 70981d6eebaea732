import { describe, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import {
  type Host,
  HOSTS,
  connectScripted,
  connectModern,
  readFramedData,
  createOptions,
  NOW,
  readProblem,
  type Result,
  readText,
} from "./hosts.ts";
import {
  createAuditEntry,
  serveAuditPages,
  dispute,
  createMany,
  createNote,
  servePages,
} from "./records.ts";
import { scriptBroker } from "./script.ts";
import { withoutNulls } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

type List = {
  items: Record<string, unknown>[];
  count: number;
  total: number | null;
  truncated: boolean;
  nextCursor: string | null;
};

const listIn = (result: Result): List => {
  expect(result.isError).not.toBe(true);
  return result.structuredContent as unknown as List;
};

const withinBudget = (result: Result, budget: number) => {
  expect(estimateTokens(readText(result))).toBeLessThanOrEqual(budget);
  expect(estimateTokens(JSON.stringify(result.structuredContent))).toBeLessThanOrEqual(budget);
  expect(readFramedData(result)).toEqual(result.structuredContent);
};

/** A row of open disputes as a list shows it. */
const toShown = (row: object) => ({ ...withoutNulls(row), status: "Open" });

const walk = async (host: Host, tool: string, args: Record<string, unknown>, budget = 20_000) => {
  const items: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  let calls = 0;
  do {
    const more: Record<string, unknown> = cursor === null ? {} : { cursor };
    const result: Result = await host.call(tool, { ...args, ...more });
    withinBudget(result, budget);
    const list = listIn(result);
    expect(list.count).toBe(list.items.length);
    items.push(...list.items);
    cursor = list.nextCursor;
    calls += 1;
  } while (cursor !== null && calls < 100);
  return { items, calls };
};

describe.each(HOSTS)("disputes_list (%s)", (_name, open) => {
  verifies("C-73");
  it("reads pages until the budget is full, and cursors lead through all records", async () => {
    const rows = createMany(330, dispute);
    const broker = scriptBroker({ "disputes.list": servePages(rows) });
    const host = await open(await createOptions(broker));
    const first = await host.call("disputes_list", { Status: [0] });
    const list = listIn(first);
    expect(list).toMatchObject({ total: 330, truncated: true });
    expect(list.count).toBeGreaterThan(50);
    expect(Object.keys(list)).toEqual([
      "about",
      "count",
      "total",
      "truncated",
      "nextCursor",
      "items",
    ]);
    expect(readText(first)).toContain(
      "of 330 records are here; for more, send nextCursor as cursor",
    );
    const { items, calls } = await walk(host, "disputes_list", { Status: [0] });
    expect(items.map(({ disputeId }) => disputeId)).toEqual(rows.map((row) => row.disputeId));
    expect(calls).toBeGreaterThan(2);
    expect(broker.seen.every(({ args }) => Array.isArray(args["Status"]))).toBe(true);
    expect(broker.seen.every(({ options }) => options.tool === "disputes_list")).toBe(true);
  });
});

describe("pages", () => {
  it("Page or PageSize read one page, with a cursor to the next", async () => {
    const rows = createMany(25, dispute);
    const { host, broker } = await connectScripted({ "disputes.list": servePages(rows) });
    const first = listIn(await host.call("disputes_list", { PageSize: 10 }));
    expect(first).toMatchObject({ count: 10, total: 25, truncated: true });
    const { items } = await walk(host, "disputes_list", { PageSize: 10, fields: ["*"] });
    expect(items).toEqual(rows.map(toShown));
    const second = listIn(await host.call("disputes_list", { Page: 2 }));
    expect(second).toMatchObject({ count: 5, truncated: false, nextCursor: null });
    expect(broker.seen.at(-1)?.args).toEqual({ Page: 2, PageSize: 20 });
  });

  verifies("WK-06a");
  it("a page larger than the budget is continued within the page", async () => {
    const rows = createMany(120, dispute);
    const { host } = await connectScripted({ "disputes.list": servePages(rows) });
    const args = { PageSize: 100, fields: ["*"] };
    const first = listIn(await host.call("disputes_list", args));
    expect(first.truncated).toBe(true);
    const { items } = await walk(host, "disputes_list", args);
    expect(items).toEqual(rows.map(toShown));
  });

  it("a list without a total is read to its end", async () => {
    const rows = createMany(205, dispute);
    const { host } = await connectScripted({ "disputes.list": servePages(rows, { total: false }) });
    expect(listIn(await host.call("disputes_list")).total).toBeNull();
    const { items } = await walk(host, "disputes_list", { fields: ["*"] });
    expect(items).toEqual(rows.map(toShown));
  });

  it("lookups by document and by id page in the body", async () => {
    const rows = createMany(150, dispute);
    const { host, broker } = await connectScripted({
      "disputes.list_by_ids": servePages(rows),
      "disputes.list_by_document_numbers": servePages(rows),
    });
    const disputeIds = ["a", "b"];
    const { items } = await walk(host, "disputes_list_by_ids", {
      disputeIds,
      fields: ["*"],
    });
    expect(items).toEqual(rows.map(toShown));
    expect(broker.seen[0]?.args).toEqual({ disputeIds, page: 1, pageSize: 100 });
    const documents = { accountNumber: "A", documentNumbers: "INV-1", status: "open", pageSize: 5 };
    const found = await host.call("disputes_list_by_document_numbers", documents);
    expect(listIn(found).count).toBe(5);
    expect(broker.seen.at(-1)?.args).toMatchObject({ documentNumbers: ["INV-1"], status: "Open" });
  });

  it("configuration is returned whole, or in parts if it is too long", async () => {
    const rows = createMany(400, (index) => ({ departmentId: `d-${index}`, code: `C${index}` }));
    const { host, broker } = await connectScripted(
      { "departments.list": () => rows },
      { settings: { answerTokens: 3000 } },
    );
    const { items, calls } = await walk(host, "departments_list", {}, 3000);
    expect(items).toEqual(rows);
    expect(calls).toBeGreaterThan(1);
    expect(broker.seen[0]?.args).toEqual({});
  });

  verifies("C-13");
  it("a record created or deleted meanwhile causes no repetition and no gap", async () => {
    const rows = createMany(60, dispute);
    const { host } = await connectScripted({ "disputes.list": servePages(rows) });
    const before = rows.map(({ disputeId }) => disputeId);
    const args = { fields: ["*"] };
    const first = listIn(await host.call("disputes_list", args));
    rows.unshift(dispute(1000), dispute(1001));
    rows.splice(5, 1);
    const rest = listIn(await host.call("disputes_list", { ...args, cursor: first.nextCursor }));
    const found = [...first.items, ...rest.items].map(({ disputeId }) => disputeId);
    expect(found).toEqual(before);
  });

  it("a response of another form is reported as unavailable", async () => {
    for (const output of [null, {}, "text", [1], [null]]) {
      const { host } = await connectScripted({ "disputes.list": () => output });
      expect(readProblem(await host.call("disputes_list")).code).toBe("unavailable");
      await host.close();
    }
  });
});

describe("the audit log", () => {
  type Log = {
    data: { id: string }[];
    pagination: { cursor: string | null; hasMore: boolean; rowCount: number };
    truncated: boolean;
  };
  const logIn = (result: Result) => result.structuredContent as unknown as Log;

  it("keeps its own form, with the server's cursor", async () => {
    const rows = createMany(350, createAuditEntry);
    const { host, broker } = await connectScripted({ "audit_logs.list": serveAuditPages(rows) });
    const found: unknown[] = [];
    let cursor: string | null = null;
    do {
      const more: Record<string, unknown> = cursor === null ? {} : { cursor };
      const result: Result = await host.call("audit_logs_list", {
        q: "list",
        fields: ["*"],
        ...more,
      });
      withinBudget(result, 20_000);
      const log = logIn(result);
      expect(log.pagination.rowCount).toBe(log.data.length);
      expect(log.pagination.hasMore).toBe(log.pagination.cursor !== null);
      expect(log.truncated).toBe(log.pagination.hasMore);
      found.push(...log.data);
      ({ cursor } = log.pagination);
    } while (cursor !== null);
    expect(found).toEqual(rows);
    expect(broker.seen.every(({ args }) => args["q"] === "list")).toBe(true);
  });

  it("returns as many as `limit`, and continues there", async () => {
    const rows = createMany(350, createAuditEntry);
    const { host } = await connectScripted(
      { "audit_logs.list": serveAuditPages(rows) },
      { settings: { answerTokens: 100_000 } },
    );
    const args = { limit: 130, fields: ["*"] };
    const first = logIn(await host.call("audit_logs_list", args));
    expect(first).toMatchObject({ truncated: true, pagination: { rowCount: 130 } });
    const { cursor } = first.pagination;
    const second = logIn(await host.call("audit_logs_list", { ...args, cursor }));
    expect([...first.data, ...second.data]).toEqual(rows.slice(0, 260));
  });
});

verifies("C-66");
describe("cursors", () => {
  const lists = () => ({ "disputes.list": servePages(createMany(300, dispute)) });

  const cursorOf = async (setup: Parameters<typeof createOptions>[1] = {}, who = {}) => {
    const broker = scriptBroker(lists(), who);
    const host = await connectModern(await createOptions(broker, setup));
    const { nextCursor } = listIn(await host.call("disputes_list", { Status: [0] }));
    await host.close();
    return nextCursor ?? "";
  };

  const refusal = async (
    args: Record<string, unknown>,
    setup: Parameters<typeof createOptions>[1] = {},
    who = {},
  ) => {
    const broker = scriptBroker({ ...lists(), "departments.list": () => [] }, who);
    const host = await connectModern(await createOptions(broker, setup));
    const result = await host.call("disputes_list", args);
    await host.close();
    if (result.isError === true) expect(broker.seen).toEqual([]);
    return readProblem(result);
  };

  it("are valid for a day, for the same person and arguments", async () => {
    const cursor = await cursorOf();
    const same = { Status: ["0"], cursor };
    expect(await refusal(same)).toBeUndefined();
    const refused = [
      await refusal({ Status: [1], cursor }),
      await refusal({ cursor }),
      await refusal(same, {}, { tenantId: "tenant-2" }),
      await refusal(same, {}, { principal: "person-2" }),
      await refusal(same, { caller: "person-2" }),
      await refusal(same, { key: Buffer.alloc(32, 1) }),
      await refusal(same, { now: () => NOW + DAY + 1 }),
      await refusal({ Status: [0], cursor: `${cursor.slice(0, -1)}!` }),
      await refusal({ Status: [0], cursor: "2" }),
    ];
    for (const problem of refused) {
      expect(problem).toMatchObject({ code: "invalid_parameter", status: 400 });
      expect(problem.fields?.[0]?.field).toBe("cursor");
      expect(problem.message).toMatch(/cursor/);
    }
    expect(refused[0]?.message).toContain("other arguments");
    expect(refused[6]?.message).toContain("expired");
  });

  it("are valid for their tool only", async () => {
    const notes = Array.from({ length: 300 }, (_, index) => createNote(index, "x".repeat(600)));
    const broker = scriptBroker({
      "dispute_notes.list": servePages(notes),
      "dispute_attachments.list": () => [],
    });
    const host = await connectModern(await createOptions(broker));
    const args = { disputeId: "d-1" };
    const { nextCursor: cursor } = listIn(await host.call("dispute_notes_list", args));
    expect(cursor).not.toBeNull();
    const refused = await host.call("dispute_attachments_list", { ...args, cursor });
    expect(readProblem(refused)).toMatchObject({ code: "invalid_parameter" });
    expect(broker.seen.map(({ id }) => id)).not.toContain("dispute_attachments.list");
  });
});

verifies("C-73");
describe("the budget of a result", () => {
  it("shortens the long texts of a large record, and reports it as text and data", async () => {
    const content = "Price list disagrees with the contract of March. ".repeat(400);
    const { host } = await connectScripted(
      {
        "dispute_notes.get": () => createNote(1, content),
        "dispute_notes.list": servePages([createNote(1, content)]),
      },
      { settings: { answerTokens: 2000 } },
    );
    for (const [tool, args] of [
      ["dispute_notes_get", { disputeId: "d-1", noteId: "note-1" }],
      ["dispute_notes_list", { disputeId: "d-1" }],
    ] as const) {
      const result = await host.call(tool, args);
      withinBudget(result, 2000);
      expect(readText(result)).toContain("Long texts were shortened");
      expect(JSON.stringify(result.structuredContent)).toMatch(/… \[[0-9]+ more characters\]/);
    }
  });

  it.each([
    ["Han", "客户声称发票上的价格与合同不符"],
    ["emoji", "🦄💸📦"],
    ["random ids", "3f2a9c1e-77aa-4b0d-9c7e-5a1f00d2e4b8 "],
    ["quotes and breaks", '"\n\\"'],
    ["base64", "QmFzZTY0IGlzIGRlbnNlIGFuZCBleHBlbnNpdmU9"],
  ])("holds for notes full of %s", async (_what, piece) => {
    const rows = createMany(40, (index) => createNote(index, piece.repeat(120)));
    const { host } = await connectScripted(
      { "dispute_notes.list": servePages(rows) },
      { settings: { answerTokens: 6000 } },
    );
    const { items } = await walk(host, "dispute_notes_list", { disputeId: "d-1" }, 6000);
    expect(items).toHaveLength(40);
  });

  it("cuts nested lists last, and keeps the result valid", async () => {
    const tenants = createMany(500, (index) => ({ tenantId: `t-${index}`, tenantName: "A name" }));
    const { host } = await connectScripted(
      { "users.profile": () => ({ userId: "u-1", tenants }) },
      { settings: { answerTokens: 1000 } },
    );
    const result = await host.call("users_profile");
    withinBudget(result, 1000);
    expect(result.structuredContent).toMatchObject({ userId: "u-1" });
  });
});
