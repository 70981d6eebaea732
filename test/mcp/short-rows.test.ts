import { describe, expect, it } from "vitest";
import {
  type Host,
  connectModern,
  createOptions,
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
import { type ScriptedReply, scriptBroker } from "./script.ts";
import { o200kTokens } from "../support/o200k.ts";
import { verifies } from "../support/verifies.ts";

type Row = Record<string, unknown>;

const hostFor = async (plays: Record<string, ScriptedReply>, answerTokens = 6000) => {
  const broker = scriptBroker(plays);
  const host: Host = await connectModern(
    await createOptions(broker, { settings: { answerTokens } }),
  );
  return { broker, host };
};

const rowsIn = ({ structuredContent = {} }: Result): Row[] =>
  (structuredContent["items"] ?? structuredContent["data"]) as Row[];

const SHORT = [
  "disputeId",
  "disputeCode",
  "status",
  "amount",
  "documentNumber",
  "accountNumber",
  "currencyCode",
  "reasonName",
  "assigneeName",
  "accountName",
  "createDate",
];

describe("the rows of a list", () => {
  const disputes = () => ({ "disputes.list": servePages(createMany(3, dispute)) });

  verifies("IN-51");
  it("have the default fields without nulls", async () => {
    const { host } = await hostFor({
      "disputes.list": servePages([dispute(1), dispute(2, { assigneeName: null })]),
    });
    const [first = {}, second = {}] = rowsIn(await host.call("disputes_list"));
    expect(Object.keys(first).toSorted()).toEqual(SHORT.toSorted());
    expect(second).not.toHaveProperty("assigneeName");
  });

  verifies("IN-51");
  it("have the named fields, and all of them for an asterisk", async () => {
    const { host } = await hostFor(disputes());
    const named = await host.call("disputes_list", { fields: ["disputeCode", "poNumber"] });
    expect(rowsIn(named)[0]).toEqual({ disputeCode: "D-INV-0-01" });
    const one = await host.call("disputes_list", { fields: "amount" });
    expect(rowsIn(one)[0]).toEqual({ amount: 1204.55 });
    const [all = {}] = rowsIn(await host.call("disputes_list", { fields: ["*"] }));
    expect(all).toHaveProperty("originSystem");
    expect(Object.values(all)).not.toContain(null);
  });

  verifies("IN-51");
  it("have no unknown field: it is refused with the known and the nearest ones", async () => {
    const { host, broker } = await hostFor(disputes());
    const { code, message } = readProblem(await host.call("disputes_list", { fields: ["amout"] }));
    expect(code).toBe("invalid_request");
    expect(message).toContain('fields[0] "amout" is not a field; did you mean amount?');
    expect(message).toContain("known: disputeId, disputeCode");
    expect(broker.seen).toEqual([]);
  });

  verifies("IN-51");
  it("are asked of the platform where it takes fields", async () => {
    const { host, broker } = await hostFor({
      "payments.query": serveAuditPages([{ paymentId: "p" }]),
    });
    await host.call("payments_query", { source: "iandp" });
    expect(broker.seen[0]?.args["fields"]).toEqual(
      expect.arrayContaining(["paymentId", "amountPaid", "paymentStatus"]),
    );
    expect(broker.seen[0]?.args["fields"]).not.toContain("payerName");
    await host.call("payments_query", { source: "bpn", fields: ["*"] });
    expect(broker.seen[1]?.args["fields"]).toContain("adjustmentReasonCode");
    await host.call("payments_query", { source: "bpn", fields: ["payerName"] });
    expect(broker.seen[2]?.args["fields"]).toEqual(["payerName"]);
  });

  verifies("IN-51");
  it.each([
    [
      "documents_list",
      { documentNumber: "1", due_date: "2026-01-31", po_number: null, line_items: [{ amount: 1 }] },
      { documentNumber: "1", due_date: "2026-01-31" },
    ],
    [
      "accounts_list",
      { accountNumber: "A", name: "Ann", vat: "V", email: null },
      { accountNumber: "A", name: "Ann" },
    ],
  ])("of %s are short as well, or have the named fields", async (tool, row, short) => {
    const id = tool.replace("_", ".");
    const broker = scriptBroker({ [id]: serveAuditPages([row]) }, { extensions: [id] });
    const host = await connectModern(await createOptions(broker));
    const all = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    const [[name, value] = ["", null]] = Object.entries(row);
    expect(rowsIn(await host.call(tool))).toEqual([short]);
    expect(rowsIn(await host.call(tool, { fields: ["*"] }))).toEqual([all]);
    expect(rowsIn(await host.call(tool, { fields: [name] }))).toEqual([{ [name]: value }]);
    expect(readProblem(await host.call(tool, { fields: ["nope"] })).code).toBe("invalid_request");
  });

  verifies("D-MCP-6", "IN-50");
  it("say which of their fields and lists were left out to fit", async () => {
    const wide = Object.fromEntries(createMany(60, (index) => [`field${index}`, `text ${index}`]));
    const { host } = await hostFor({ "payments.query": serveAuditPages([wide, wide]) }, 1000);
    const result = await host.call("payments_query", { source: "cashapp", fields: ["*"] });
    const [row = {}] = rowsIn(result);
    const shown = Object.keys(row).length;
    expect(shown).toBeGreaterThan(3);
    expect(shown).toBeLessThan(60);
    const text = readText(result);
    expect(text).toContain(
      `Left out to fit: data[0] has ${shown} of 60 fields; name fewer fields to get the others.`,
    );
    expect(text).not.toContain("Long texts");
    expect(o200kTokens(text)).toBeLessThanOrEqual(1000);
  });

  verifies("D-MCP-6");
  it("have all their default fields with the smallest budget", async () => {
    const payment = {
      paymentId: "CP-733267609",
      paymentDate: "2026-11-03",
      payerName: "Northgate Home Centers",
      accountNumber: "C-10679",
      documentNumber: "5216744",
      invoiceNumber: "5216744",
      currencyCode: "USD",
      paymentAmount: 4333.48,
      appliedAmount: 4333.48,
      applicationStatus: "applied",
    };
    const { host } = await hostFor({ "payments.query": serveAuditPages([payment]) }, 1000);
    const result = await host.call("payments_query", { source: "cashapp" });
    expect(rowsIn(result)).toEqual([payment]);
    expect(readText(result)).not.toContain("Left out");
  });

  it("go on with a cursor for the same fields alone", async () => {
    const { host } = await hostFor({ "disputes.list": servePages(createMany(400, dispute)) });
    const args = { fields: ["disputeId", "amount"] };
    const { structuredContent } = await host.call("disputes_list", args);
    const cursor = structuredContent?.["nextCursor"];
    expect(rowsIn(await host.call("disputes_list", { ...args, cursor }))).not.toHaveLength(0);
    expect(readProblem(await host.call("disputes_list", { cursor })).code).toBe(
      "invalid_parameter",
    );
  });
});

describe("completeness", () => {
  verifies("IN-50");
  it("is false where a page, a limit or the budget ends the list, and a cursor is set", async () => {
    const { host } = await hostFor({
      "disputes.list": servePages(createMany(300, dispute)),
      "audit_logs.list": serveAuditPages(createMany(30, createAuditEntry)),
    });
    const page = (await host.call("disputes_list", { Page: 1, PageSize: 5 })).structuredContent;
    const budget = (await host.call("disputes_list")).structuredContent;
    for (const list of [page, budget]) {
      expect(list).toMatchObject({ truncated: true, total: 300 });
      expect(list?.["nextCursor"]).toEqual(expect.any(String));
    }
    const limit = (await host.call("audit_logs_list", { limit: 10 })).structuredContent;
    expect(limit).toMatchObject({ truncated: true, pagination: { hasMore: true, rowCount: 10 } });
    const log = (await host.call("audit_logs_list", { limit: 30 })).structuredContent;
    expect(log).toMatchObject({ truncated: false, pagination: { cursor: null, hasMore: false } });
    const last = (await host.call("disputes_list", { Page: 60, PageSize: 5 })).structuredContent;
    expect(last).toMatchObject({ truncated: false, nextCursor: null, count: 5 });
  });

  verifies("IN-59");
  it("and the cursor come before the rows, as data and as text", async () => {
    const { host } = await hostFor({
      "disputes.list": servePages(createMany(300, dispute)),
      "audit_logs.list": serveAuditPages(createMany(300, createAuditEntry)),
    });
    for (const [tool, rows] of [
      ["disputes_list", "items"],
      ["audit_logs_list", "data"],
    ] as const) {
      const result = await host.call(tool);
      const { structuredContent = {} } = result;
      expect(Object.keys(structuredContent).at(-1)).toBe(rows);
      const text = readText(result);
      expect(text.indexOf("for more, send")).toBeLessThan(text.indexOf(`"${rows}":[`));
      expect(text.indexOf('"truncated":true')).toBeLessThan(text.indexOf(`"${rows}":[`));
    }
  });

  verifies("IN-59");
  it.each([
    ["short words", "a deal of the day is to be on us "],
    ["long words", "notwithstanding reconciliation documentation "],
    ["blanks", `x${" ".repeat(60)}`],
  ])("costs at most 25,000 characters for notes of %s", async (_what, piece) => {
    const rows = createMany(60, (index) => createNote(index, piece.repeat(9000 / piece.length)));
    const { host } = await hostFor({
      "dispute_notes.list": servePages(rows),
      "dispute_notes.get": () => createNote(1, piece.repeat(90_000 / piece.length)),
    });
    const list = await host.call("dispute_notes_list", { disputeId: "d-1" });
    const record = await host.call("dispute_notes_get", { disputeId: "d-1", noteId: "n" });
    for (const result of [list, record]) {
      expect(readText(result).length).toBeLessThanOrEqual(25_000);
      expect(JSON.stringify(result.structuredContent).length).toBeLessThanOrEqual(25_000);
    }
    expect(list.structuredContent).toMatchObject({ truncated: true });
  });
});
