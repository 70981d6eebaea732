import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import { HOSTS, legacyHost, modernHost, needsOf, problemIn, type Result } from "./hosts.ts";
import { dispute, many, numberedPages } from "./records.ts";
import { answered, type Play, scripted } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const AT = "2026-11-20T12:00:00.123Z";
const ACCOUNT = { csrId: 1, accountNumber: "ACC-1", name: "Northwind Traders" };
const INVOICE = {
  csrId: 2,
  documentNumber: "INV/1",
  account_number: "ACC-1",
  invoice_date: "2026-01-05",
  due_date: "2026-02-05",
  document_type: "invoice",
  currency: "USD",
  denomination: 1204.55,
  status: "open",
};
const SENT = { account_number: "ACC-1", invoice_date: "2026-01-05", due_date: "2026-02-05" };
const PDF = Buffer.from("%PDF-1.7\n\u0000binary%%EOF");

const missing =
  (code: "account_not_found" | "document_not_found" | "attachment_not_found"): Play =>
  () => {
    throw new Problem(code, "There is none.");
  };

const attachment = (index: number) => ({
  id: `att-${index}`,
  csrId: index,
  documentNumber: "INV/1",
  fileSize: PDF.length,
  uploadedAt: AT,
});

const asked = (answer: boolean) => {
  const questions: string[] = [];
  const person = (question: string) => {
    questions.push(question);
    return { action: "accept" as const, content: { confirm: answer } };
  };
  return { questions, person };
};

const confirmationIn = (result: Result) =>
  result._meta?.["receivables/confirmation"] as { confirmationToken: string; summary: string };

const REPLACE = { account_number: "ACC-1", name: "Southwind" };

const NO_DISPUTES: Record<string, Play> = {
  "disputes.list": () => [],
  "resolutions.list": () => [],
};

describe.each(HOSTS)("replacing and closing (%s)", (_name, open) => {
  verifies("D-MCP-2");
  it("asks about the account that exists, and then holds for it as it was", async () => {
    const broker = scripted({
      "accounts.get": answered({ ...ACCOUNT, notes: [] }, { etag: '"a.7"' }),
      "accounts.replace": answered({ ...ACCOUNT, name: "Southwind" }, { etag: '"a.8"' }),
    });
    const { questions, person } = asked(true);
    const host = await open(await needsOf(broker), person);
    const result = await host.call("accounts_replace", REPLACE);
    expect(result.structuredContent).toMatchObject({ name: "Southwind" });
    expect(result._meta?.["receivables/etag"]).toBe('"a.8"');
    expect(questions).toEqual([
      "Replace account ACC-1 (Northwind Traders), with one named Southwind? Fields that are not sent are lost.",
    ]);
    const [, replaced] = broker.seen;
    expect(replaced).toMatchObject({ id: "accounts.replace", args: REPLACE });
    expect(replaced?.options.ifMatch).toBe('"a.7"');
    await host.close();
  });

  it("asks nobody about a record that does not exist yet", async () => {
    const broker = scripted({
      "documents.get": missing("document_not_found"),
      "documents.replace": () => INVOICE,
    });
    const { questions, person } = asked(false);
    const host = await open(await needsOf(broker), person);
    const args = { document_number: "INV/1", ...SENT };
    expect((await host.call("documents_replace", args)).isError).toBeFalsy();
    expect(questions).toEqual([]);
    expect(broker.seen[1]?.options).toMatchObject({ ifMatch: undefined, ifAbsent: true });
    await host.close();
  });

  it("closes an open document after asking, and leaves a closed one to the platform", async () => {
    let status = "open";
    const broker = scripted({
      ...NO_DISPUTES,
      "documents.get": () => answered({ ...INVOICE, status }, { etag: `"d.${status}"` })(),
      "documents.close": () => {
        if (status === "closed") throw new Problem("document_already_closed", "It is closed.");
        status = "closed";
        return { closure_reason: "paid", status, documentNumber: "INV/1" };
      },
    });
    const { questions, person } = asked(true);
    const host = await open(await needsOf(broker), person);
    const args = { document_number: "INV/1", closure_reason: "paid" };
    const done = await host.call("documents_close", args);
    expect(done.structuredContent).toMatchObject({ status: "closed" });
    expect(broker.seen.at(-1)?.options.ifMatch).toBe('"d.open"');
    expect(problemIn(await host.call("documents_close", args)).code).toBe(
      "document_already_closed",
    );
    expect(broker.seen.at(-1)?.options.ifMatch).toBe('"d.closed"');
    expect(questions).toEqual(["Close document INV/1 of account ACC-1, 1,204.55 USD, as paid?"]);
    await host.close();
  });

  it("changes nothing when the person declines", async () => {
    const broker = scripted({ ...NO_DISPUTES, "documents.get": () => INVOICE });
    const host = await open(await needsOf(broker), asked(false).person);
    const args = { document_number: "INV/1", closure_reason: "other" };
    expect(problemIn(await host.call("documents_close", args)).code).toBe("declined");
    expect(broker.seen.every(({ id }) => id !== "documents.close")).toBe(true);
    await host.close();
  });
});

describe("a host that cannot ask", () => {
  const plays = (etag: string | null): Record<string, Play> => ({
    "accounts.get": answered({ ...ACCOUNT, notes: [] }, { etag }),
    "accounts.replace": (_args, { ifMatch }) => {
      if (ifMatch !== '"a.1"') throw new Problem("precondition_failed", "It has changed.");
      return ACCOUNT;
    },
  });

  verifies("D-MCP-2");
  it("the token carries the ETag that the question was about, whatever came since", async () => {
    let version = 0;
    const reading = plays(null);
    const broker = scripted({
      ...reading,
      "accounts.get": () => {
        version += 1;
        return answered({ ...ACCOUNT, notes: [] }, { etag: `"a.${version}"` })();
      },
    });
    const host = await modernHost(await needsOf(broker));
    const { confirmationToken, summary } = confirmationIn(
      await host.call("accounts_replace", REPLACE),
    );
    expect(summary).toContain("Northwind Traders");
    const args = { ...REPLACE, confirmationToken };
    expect((await host.call("accounts_replace", args)).isError).toBeFalsy();
    expect(version).toBe(1);
    expect(problemIn(await host.call("accounts_replace", args)).code).toBe("confirmation_invalid");
    const other = confirmationIn(await host.call("accounts_replace", REPLACE));
    const late = { ...REPLACE, confirmationToken: other.confirmationToken };
    expect(problemIn(await host.call("accounts_replace", late)).code).toBe("precondition_failed");
    await host.close();
  });

  it("an ifMatch of another version is refused before anybody is asked", async () => {
    const broker = scripted(plays('"a.1"'));
    const { questions, person } = asked(true);
    const host = await modernHost(await needsOf(broker), person);
    const other = await host.call("accounts_replace", { ...REPLACE, ifMatch: '"a.9"' });
    expect(problemIn(other).code).toBe("precondition_failed");
    expect(questions).toEqual([]);
    const same = await host.call("accounts_replace", { ...REPLACE, ifMatch: '"a.1"' });
    expect(same.isError).toBeFalsy();
    await host.close();
  });

  it("with refuse still makes what does not exist, and refuses to replace what does", async () => {
    const settings = { confirm: "refuse" as const };
    const fresh = scripted({
      "accounts.get": missing("account_not_found"),
      "accounts.replace": () => ACCOUNT,
    });
    const making = await modernHost(await needsOf(fresh, { settings }));
    expect((await making.call("accounts_replace", REPLACE)).isError).toBeFalsy();
    await making.close();
    const host = await modernHost(await needsOf(scripted(plays('"a.1"')), { settings }));
    const { code } = problemIn(await host.call("accounts_replace", REPLACE));
    expect(code).toBe("confirmation_unavailable");
    await host.close();
  });

  it("is asked about what may not be read, by its number", async () => {
    const broker = scripted({
      "accounts.get": () => {
        throw new Problem("forbidden_permission", "Not permitted.");
      },
    });
    const host = await modernHost(await needsOf(broker));
    const { summary } = confirmationIn(await host.call("accounts_replace", REPLACE));
    expect(summary).toContain('Replace account "ACC-1"');
    await host.close();
  });
});

describe("arguments", () => {
  it("objects and lists may come as JSON, null clears, and strangers are named at every depth", async () => {
    const broker = scripted({
      "documents.update": () => INVOICE,
      "accounts.update": () => ACCOUNT,
    });
    const host = await modernHost(await needsOf(broker));
    const line_items = [{ line_number: "10", amount: 5.5 }, { line_number: 11 }];
    await host.call("documents_update", {
      document_number: "INV/1",
      comment: null,
      document_type: 3,
      line_items: JSON.stringify(line_items),
      custom_fields: '{"collections":{"region":{"type":"text","value":"West"}}}',
    });
    expect(broker.seen[0]?.args).toEqual({
      document_number: "INV/1",
      comment: null,
      document_type: 3,
      line_items,
      custom_fields: { collections: { region: { type: "text", value: "West" } } },
    });
    const wrong = await host.call("accounts_update", {
      account_number: "ACC-1",
      billing_address: { town: "Oslo" },
      tenantId: "other",
    });
    expect(problemIn(wrong).fields?.map(({ field }) => field)).toEqual([
      "billing_address.town",
      "tenantId",
    ]);
    expect(broker.seen).toHaveLength(1);
    await host.close();
  });

  it("creating sends an idempotency key; every fault is named at once", async () => {
    const broker = scripted({ "account_notes.create": (args) => args });
    const host = await modernHost(await needsOf(broker));
    const note = { account_number: "ACC-1", reference: "N-1", body: "called" };
    await host.call("account_notes_create", { ...note, idempotencyKey: "key-1" });
    await host.call("account_notes_create", note);
    const keys = broker.seen.map(({ options }) => options.idempotencyKey);
    expect(keys[0]).toBe("key-1");
    expect(keys[1]).toMatch(/.{8}/);
    const wrong = await host.call("documents_create", { document_number: "D", due_date: "soon" });
    expect(
      problemIn(wrong)
        .fields?.map(({ field }) => field)
        .toSorted(),
    ).toEqual(["account_number", "due_date", "invoice_date"]);
    await host.close();
  });
});

const URI = "receivables://documents/INV%2F1/attachments/att-1";
const FILE = { fileName: "a\u202e.pdf", mimeType: "application/pdf", fileSize: PDF.length };

describe("files", () => {
  it.each(HOSTS)("come in the answer of %s", async (_name, open) => {
    const broker = scripted({ "document_attachments.get": answered(FILE, { bytes: PDF }) });
    const host = await open(await needsOf(broker));
    const args = { document_number: "INV/1", id: "att-1" };
    const result = await host.call("document_attachments_get", args);
    expect(result.structuredContent).toEqual({
      ...args,
      ...FILE,
      fileName: "a.pdf",
      resourceUri: URI,
    });
    expect(result.content[1]).toMatchObject({
      type: "resource",
      resource: { uri: URI, mimeType: "application/pdf", blob: PDF.toString("base64") },
    });
    expect(broker.seen[0]?.options.maxFileBytes).toBe(1024 * 1024);
    await host.close();
  });

  it.each(HOSTS)("are a link for %s when they are large", async (_name, open) => {
    const output = { ...FILE, fileSize: 2_000_000 };
    const host = await open(await needsOf(scripted({ "document_attachments.get": () => output })));
    const args = { document_number: "INV/1", id: "att-1" };
    const { content } = await host.call("document_attachments_get", args);
    expect(content[1]).toMatchObject({
      type: "resource_link",
      uri: URI,
      name: "a.pdf",
      mimeType: "application/pdf",
      size: 2_000_000,
    });
    await host.close();
  });

  it("are listed as the platform lists them, with a cursor only where they do not fit", async () => {
    const files = many(300, attachment);
    const plays: Record<string, Play> = {
      "document_attachments.list": ({ document_number }) => ({
        document_number,
        attachments: document_number === "INV/1" ? files : [],
      }),
    };
    const settings = { answerTokens: 3000 };
    const host = await modernHost(await needsOf(scripted(plays), { settings }));
    const none = await host.call("document_attachments_list", { document_number: "D" });
    expect(none.structuredContent).toEqual({ document_number: "D", attachments: [] });
    const found: unknown[] = [];
    for (let cursor: unknown, page = 0; page === 0 || cursor !== undefined; page += 1) {
      const args = { document_number: "INV/1", ...(cursor === undefined ? {} : { cursor }) };
      // oxlint-disable-next-line no-await-in-loop -- a page follows from the one before
      const { structuredContent = {} } = await host.call("document_attachments_list", args);
      expect(estimateTokens(JSON.stringify(structuredContent))).toBeLessThanOrEqual(3000);
      found.push(...(structuredContent["attachments"] as unknown[]));
      cursor = structuredContent["nextCursor"];
    }
    expect(found).toEqual(files);
    await host.close();
  });
});

type Contents = { contents: { mimeType?: string; text?: string; blob?: string }[] };
const note = (index: number, body = "called\u202e") => ({
  reference: `N-${index}`,
  accountNumber: "ACC-1",
  body,
  effective_date: AT,
  createdAt: AT,
});

const RECORDS: Record<string, Play> = {
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
  "document_attachments.get": answered(FILE, { bytes: PDF }),
};

const reading = async (plays: Record<string, Play>, setup: Parameters<typeof needsOf>[1] = {}) => {
  const host = await legacyHost(await needsOf(scripted(plays), setup));
  return {
    host,
    read: async (uri: string) =>
      ((await host.client.readResource({ uri })) as Contents).contents[0] ?? {},
  };
};

describe("resources", () => {
  it("an account comes with its notes, a document with its files", async () => {
    const { host, read } = await reading(RECORDS);
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
    await host.close();
  });

  verifies("C-73");
  it("stay within the budget, and say what is missing", async () => {
    const notes = many(200, (index) => note(index, "a long story ".repeat(100)));
    const plays = { ...RECORDS, "accounts.get": () => ({ ...ACCOUNT, notes }) };
    const { host, read } = await reading(plays, { settings: { answerTokens: 5000 } });
    const { text = "" } = await read("receivables://accounts/ACC-1");
    expect(estimateTokens(text)).toBeLessThanOrEqual(5000);
    expect(JSON.parse(text)).toMatchObject({ notes: { total: 200, truncated: true } });
    await host.close();
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
  ])("%s does not exist", async (uri) => {
    const { host, read } = await reading(RECORDS);
    await expect(read(uri)).rejects.toMatchObject({ code: -32602 });
    await host.close();
  });

  it("a file that is too large for a message is refused with its size", async () => {
    const plays = { "document_attachments.get": () => ({ ...FILE, fileSize: 20_000_000 }) };
    const { host, read } = await reading(plays);
    await expect(read(URI)).rejects.toThrow(/payload_too_large: The file has 20000000 bytes/);
    await host.close();
  });

  it("are there with their toolset alone", async () => {
    const { host, read } = await reading(RECORDS, { settings: { toolsets: ["disputes"] } });
    await expect(read("receivables://accounts/ACC-1")).rejects.toMatchObject({ code: -32602 });
    await expect(read(URI)).rejects.toMatchObject({ code: -32602 });
    const { resourceTemplates } = await host.client.listResourceTemplates();
    expect(JSON.stringify(resourceTemplates)).not.toContain("receivables://documents");
    await host.close();
  });
});

describe("completions", () => {
  const rows = [
    dispute(1, { accountNumber: "ACC-1", documentNumber: "INV-1" }),
    dispute(2, { accountNumber: "ACC-1", documentNumber: "INV-2" }),
    dispute(3, { accountNumber: "acc-9", documentNumber: "CN-3", accountName: "Zwirn & Söhne" }),
  ];
  const plays = { ...RECORDS, "disputes.list": numberedPages(rows) };
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
  ])("%s, %s beginning with %s, given %o", async (uri, name, value, given, expected) => {
    const host = await modernHost(await needsOf(scripted(plays)));
    const { completion } = await host.client.complete({
      ref: { type: "ref/resource", uri },
      argument: { name, value },
      context: { arguments: given },
    });
    expect(completion.values).toEqual(expected);
    await host.close();
  });
});
