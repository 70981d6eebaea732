import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import { HOSTS, connectModern, createOptions, readProblem, withoutAbout } from "./hosts.ts";
import { ACCOUNT, attachment, FILE, INVOICE, PDF, URI } from "./ingest-fixtures.ts";
import { createMany } from "./records.ts";
import { createReply, type ScriptedReply, scriptBroker } from "./script.ts";
import { pdfWithPages } from "../support/readable-files.ts";
import { verifies } from "../support/verifies.ts";

describe("arguments of ingest tools", () => {
  it("accept objects and lists as JSON and null to clear, and name unknown fields at every depth", async () => {
    const broker = scriptBroker({
      "documents.get": () => INVOICE,
      "documents.update": () => INVOICE,
      "accounts.update": () => ACCOUNT,
    });
    const host = await connectModern(await createOptions(broker));
    const line_items = [{ line_number: "10", amount: 5.5 }, { line_number: 11 }];
    await host.call("documents_update", {
      document_number: "INV/1",
      comment: null,
      document_type: 3,
      line_items: JSON.stringify(line_items),
      custom_fields: '{"collections":{"region":{"type":"text","value":"West"}}}',
    });
    // The text that is written over is read first.
    const updates = () => broker.seen.filter(({ args }) => Object.keys(args).length > 1);
    expect(updates()[0]?.args).toEqual({
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
    expect(readProblem(wrong).fields?.map(({ field }) => field)).toEqual([
      "billing_address.town",
      "tenantId",
    ]);
    expect(updates()).toHaveLength(1);
  });

  it("include an idempotency key, and all their faults are named together", async () => {
    const broker = scriptBroker({ "account_notes.create": (args) => args });
    const host = await connectModern(await createOptions(broker));
    const note = { account_number: "ACC-1", reference: "N-1", body: "called" };
    await host.call("account_notes_create", { ...note, idempotencyKey: "key-1" });
    await host.call("account_notes_create", note);
    const keys = broker.seen.map(({ options }) => options.idempotencyKey);
    expect(keys[0]).toBe("key-1");
    expect(keys[1]).toMatch(/.{8}/);
    const wrong = await host.call("documents_create", { document_number: "D", due_date: "soon" });
    expect(
      readProblem(wrong)
        .fields?.map(({ field }) => field)
        .toSorted(),
    ).toEqual(["account_number", "due_date", "invoice_date"]);
  });
});

describe("files of documents", () => {
  it.each(HOSTS)("are embedded in the result for %s", async (_name, open) => {
    const broker = scriptBroker({
      "document_attachments.get": createReply(FILE, { bytes: PDF }),
    });
    const host = await open(await createOptions(broker));
    const args = { document_number: "INV/1", id: "att-1" };
    const result = await host.call("document_attachments_get", { ...args, as: "file" });
    expect(withoutAbout(result)).toEqual({
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
  });

  verifies("WK-20", "WK-01a");
  it("are read as text, in any spelling of the number", async () => {
    const bytes = await pdfWithPages(["Invoice 4711", "Second page"]);
    const broker = scriptBroker({ "document_attachments.get": createReply(FILE, { bytes }) });
    const host = await connectModern(await createOptions(broker));
    const args = { document_number: "INV/1", id: "att-1" };
    const result = await host.call("document_attachments_get", { ...args, pages: "2" });
    expect(result.structuredContent).toMatchObject({
      ...args,
      resourceUri: URI,
      pagesTotal: 2,
      text: [{ page: 2, text: "Second page" }],
    });
    const { contents } = await host.client.readResource({ uri: `${URI}/text` });
    expect(contents[0]).toMatchObject({ text: "[page 1]\nInvoice 4711\n\n[page 2]\nSecond page" });
    const shown = await host.call("read_resource", { uri: URI });
    expect(shown.structuredContent).toMatchObject({
      text: "[page 1]\nInvoice 4711\n\n[page 2]\nSecond page",
    });
  });

  it.each(HOSTS)("are a link for %s if they are large", async (_name, open) => {
    const output = { ...FILE, fileSize: 2_000_000 };
    const host = await open(
      await createOptions(scriptBroker({ "document_attachments.get": () => output })),
    );
    const args = { document_number: "INV/1", id: "att-1" };
    const { content } = await host.call("document_attachments_get", { ...args, as: "file" });
    expect(content[1]).toMatchObject({
      type: "resource_link",
      uri: URI,
      name: "a.pdf",
      mimeType: "application/pdf",
      size: 2_000_000,
    });
  });

  it("are listed in the platform's order, with a cursor only if they exceed the budget", async () => {
    const files = createMany(300, attachment);
    const plays: Record<string, ScriptedReply> = {
      "document_attachments.list": ({ document_number }) => ({
        document_number,
        attachments: document_number === "INV/1" ? files : [],
      }),
    };
    const settings = { answerTokens: 3000 };
    const host = await connectModern(await createOptions(scriptBroker(plays), { settings }));
    const none = await host.call("document_attachments_list", { document_number: "D" });
    expect(withoutAbout(none)).toEqual({ document_number: "D", attachments: [] });
    const found: unknown[] = [];
    for (let cursor: unknown, page = 0; page === 0 || cursor !== undefined; page += 1) {
      const args = { document_number: "INV/1", ...(cursor === undefined ? {} : { cursor }) };
      const { structuredContent = {} } = await host.call("document_attachments_list", args);
      expect(estimateTokens(JSON.stringify(structuredContent))).toBeLessThanOrEqual(3000);
      found.push(...(structuredContent["attachments"] as unknown[]));
      cursor = structuredContent["nextCursor"];
    }
    expect(found).toEqual(files);
  });
});
