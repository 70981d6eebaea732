import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import { verifies } from "../support/verifies.ts";
import { connectLegacy, connectModern, createOptions } from "./hosts.ts";
import { ACCOUNT, AT, attachment, FILE, INVOICE, PDF, URI } from "./ingest-fixtures.ts";
import { dispute, createMany, servePages } from "./records.ts";
import { createReply, type ScriptedReply, scriptBroker } from "./script.ts";

type Contents = { contents: { mimeType?: string; text?: string; blob?: string }[] };
const note = (index: number, body = "called\u202e") => ({
  reference: `N-${index}`,
  accountNumber: "ACC-1",
  body,
  effective_date: AT,
  createdAt: AT,
});

const RECORDS: Record<string, ScriptedReply> = {
  "accounts.get": ({ account_number }) => {
    if (account_number !== "ACC-1") throw new Problem("account_not_found", "There is none.");
    return { ...ACCOUNT, notes: [note(1)] };
  },
  "documents.get": ({ document_number }) => {
    if (document_number !== "INV/1") throw new Problem("document_not_found", "There is none.");
    return INVOICE;
  },
  "document_attachments.list": ({ document_number }) => ({
    document_number,
    attachments: [attachment(1)],
  }),
  "document_attachments.get": createReply(FILE, { bytes: PDF }),
};

const reading = async (
  plays: Record<string, ScriptedReply>,
  setup: Parameters<typeof createOptions>[1] = {},
) => {
  const host = await connectLegacy(await createOptions(scriptBroker(plays), setup));
  return {
    host,
    read: async (uri: string) =>
      ((await host.client.readResource({ uri })) as Contents).contents[0] ?? {},
  };
};

describe("resources of accounts and documents", () => {
  it("include an account's notes and a document's files", async () => {
    const { read } = await reading(RECORDS);
    const account = await read("receivables://accounts/ACC-1");
    expect(JSON.parse(account.text ?? "")).toEqual({
      account: ACCOUNT,
      notes: { items: [note(1, "called")], total: 1, truncated: false },
    });
    const document = await read("receivables://documents/INV%2F1");
    expect(JSON.parse(document.text ?? "")).toEqual({
      document: INVOICE,
      attachments: { items: [attachment(1)], total: 1, truncated: false },
    });
    expect(await read(URI)).toMatchObject({
      mimeType: "application/pdf",
      blob: PDF.toString("base64"),
    });
  });

  verifies("C-73");
  it("stay within the budget and report truncation", async () => {
    const notes = createMany(200, (index) => note(index, "a long story ".repeat(100)));
    const plays = { ...RECORDS, "accounts.get": () => ({ ...ACCOUNT, notes }) };
    const { read } = await reading(plays, { settings: { answerTokens: 5000 } });
    const { text = "" } = await read("receivables://accounts/ACC-1");
    expect(estimateTokens(text)).toBeLessThanOrEqual(5000);
    expect(JSON.parse(text)).toMatchObject({ notes: { total: 200, truncated: true } });
  });

  it.each([
    "receivables://accounts/",
    "receivables://accounts/ACC-2",
    "receivables://accounts/ACC-1/notes",
    "receivables://documents/INV/1",
    "receivables://documents/INV-2",
    "receivables://documents/INV%2F1/attachments/",
    "receivables://documents/INV%2F1/attachments/a/b",
    "receivables://documents/%zz/attachments/a",
  ])("do not include %s", async (uri) => {
    const { read } = await reading(RECORDS);
    await expect(read(uri)).rejects.toMatchObject({ code: -32602 });
  });

  it("refuse a file that is too large, with its size", async () => {
    const plays = { "document_attachments.get": () => ({ ...FILE, fileSize: 20_000_000 }) };
    const { read } = await reading(plays);
    await expect(read(URI)).rejects.toThrow(/payload_too_large: The file has 20000000 bytes/);
  });

  it("require their toolset", async () => {
    const { host, read } = await reading(RECORDS, { settings: { toolsets: ["disputes"] } });
    await expect(read("receivables://accounts/ACC-1")).rejects.toMatchObject({ code: -32602 });
    await expect(read(URI)).rejects.toMatchObject({ code: -32602 });
    const { resourceTemplates } = await host.client.listResourceTemplates();
    expect(JSON.stringify(resourceTemplates)).not.toContain("receivables://documents");
  });
});

describe("completions of accounts and documents", () => {
  const rows = [
    dispute(1, { accountNumber: "ACC-1", documentNumber: "INV-1" }),
    dispute(2, { accountNumber: "ACC-1", documentNumber: "INV-2" }),
    dispute(3, { accountNumber: "acc-9", documentNumber: "CN-3", accountName: "Zwirn & Söhne" }),
  ];
  const plays = { ...RECORDS, "disputes.list": servePages(rows) };
  const ATTACHMENT = "receivables://documents/{documentNumber}/attachments/{id}";

  it.each([
    ["receivables://accounts/{accountNumber}", "accountNumber", "a", {}, ["ACC-1", "acc-9"]],
    ["receivables://documents/{documentNumber}", "documentNumber", "inv", {}, ["INV-1", "INV-2"]],
    [ATTACHMENT, "documentNumber", "CN", {}, ["CN-3"]],
    ["receivables://accounts/{accountNumber}", "accountNumber", "söhne", {}, ["acc-9"]],
    ["receivables://documents/{documentNumber}", "documentNumber", "Zwirn", {}, ["CN-3"]],
    [ATTACHMENT, "id", "at", { documentNumber: "INV/1" }, ["att-1"]],
    [ATTACHMENT, "id", "at", {}, []],
    ["receivables://accounts/{accountNumber}", "documentNumber", "", {}, []],
  ])(
    "complete in %s the variable %s from %s, given %o",
    async (uri, name, value, given, expected) => {
      const host = await connectModern(await createOptions(scriptBroker(plays)));
      const { completion } = await host.client.complete({
        ref: { type: "ref/resource", uri },
        argument: { name, value },
        context: { arguments: given },
      });
      expect(completion.values).toEqual(expected);
    },
  );
});
