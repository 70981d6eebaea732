import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connectStdio,
  type Ready,
  runAdmin,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { pdf, uploadPath } from "../support/pdf.ts";
import { verifies } from "../support/verifies.ts";
import { withoutAbout } from "../mcp/hosts.ts";

const MIB = 1024 * 1024;

type Json = Record<string, unknown>;
type Answer = {
  isError?: boolean;
  structuredContent?: Json;
  _meta?: Json;
  content: { type: string; uri?: string; resource?: { uri: string; blob?: string } }[];
};

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "warn" };
let server: Running;
let at: Ready;
let apiKey: string;
let connectionId: string;
let host: Client;
const questions: string[] = [];
let beforeYes: () => Promise<unknown> = async () => {};

const admin = (...line: string[]) => runAdmin(line, env);

const rest = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${at.extBaseUrl}/api/v1/ingest${path}`, {
    method,
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.ok).toBe(true);
  return (await response.json()) as Json;
};

const upload = async (number: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
  const response = await fetch(`${at.extBaseUrl}${uploadPath(connectionId, number)}`, {
    method: "POST",
    headers: { "X-API-Key": apiKey, "Content-Type": "application/pdf" },
    body: bytes,
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
};

const call = async (name: string, args: Json) =>
  (await host.callTool({ name, arguments: args })) as unknown as Answer;

const answer = async (name: string, args: Json): Promise<Json> => {
  const result = await call(name, args);
  expect([name, result.isError ?? false, result._meta?.["receivables/problem"]]).toEqual([
    name,
    false,
    undefined,
  ]);
  return withoutAbout(result);
};

const refusal = async (name: string, args: Json): Promise<Json> =>
  (await call(name, args))._meta?.["receivables/problem"] as Json;

beforeAll(async () => {
  const tenant = await admin("tenant", "create", "acme", "--name", "Acme Inc.");
  connectionId = String(tenant["connectionId"]);
  const key = await admin("key", "issue", "--tenant", "acme", "--name", "ingest");
  apiKey = String(key["apiKey"]);
  server = startCli(["platform", "--port", "0"], env);
  at = await whenReady(server);
  host = new Client(
    { name: "test", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  host.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    await beforeYes();
    return { action: "accept", content: { confirm: true } };
  });
  const settings = {
    RECEIVABLES_DATA: join(folder, "host"),
    RECEIVABLES_BASE_URL: at.baseUrl,
    RECEIVABLES_EXT_BASE_URL: at.extBaseUrl,
    RECEIVABLES_EXT_API_KEY: apiKey,
    RECEIVABLES_TENANT_ID: "acme",
  };
  await connectStdio(settings, { client: host });
});

afterAll(async () => {
  await host?.close();
  await server?.end("SIGTERM");
});

const ACCOUNT = { account_number: "ACC/1", name: "Northwind", currency: "USD" };
const DATES = { invoice_date: "2026-01-05", due_date: "2026-02-05" };
const INVOICE = { account_number: "ACC/1", ...DATES, currency: "USD", denomination: 100.25 };

describe("the ingest tools over stdio", () => {
  it("maintain accounts and their notes like REST", async () => {
    const made = await answer("accounts_create", ACCOUNT);
    expect(made).toMatchObject({ accountNumber: "ACC/1", name: "Northwind" });
    expect(await refusal("accounts_create", ACCOUNT)).toMatchObject({
      code: "account_already_exists",
      status: 409,
    });
    const note = { account_number: "ACC/1", reference: "N-1", body: "Called." };
    const kept = await answer("account_notes_create", note);
    expect(await answer("account_notes_get", { ...note, body: undefined })).toEqual(kept);
    const changed = await answer("accounts_update", {
      account_number: "ACC/1",
      billing_address: { city: "Oslo", country: "NO" },
    });
    const read = await answer("accounts_get", { account_number: "ACC/1" });
    expect(read).toMatchObject({ ...changed, notes: [{ reference: "N-1" }] });
    expect(read).toEqual(await rest("GET", "/accounts/ACC%2F1"));
    expect(await refusal("accounts_get", { account_number: "ACC-2" })).toMatchObject({
      code: "account_not_found",
      status: 404,
    });
  });

  it("report every fault of a body with its field, also those found by the platform", async () => {
    const wrong = { account_number: "ACC-9", name: "Nine", currency: "XXQ", language: "zq" };
    const { code, status, fields } = await refusal("accounts_create", wrong);
    expect([code, status]).toEqual(["validation_failed", 422]);
    expect((fields as { field: string }[]).map(({ field }) => field).toSorted()).toEqual([
      "currency",
      "language",
    ]);
  });

  it("replace a record after a question, and create one without", async () => {
    const args = { document_number: "INV/1", ...INVOICE };
    expect(await answer("documents_replace", args)).toMatchObject({ status: "open" });
    expect(questions).toEqual([]);
    await answer("documents_replace", { ...args, denomination: 90.1 });
    expect(questions.splice(0)).toEqual([
      "Replace document INV/1 of account ACC/1, 100.25 USD, with one of account ACC/1? Fields that are not sent are lost.",
    ]);
    // The document changes while the person reads the question.
    beforeYes = () => rest("PATCH", "/documents/INV%2F1", { comment: "Meanwhile." });
    expect(await refusal("documents_replace", args)).toMatchObject({ code: "precondition_failed" });
    beforeYes = async () => {};
    questions.length = 0;
    expect(await answer("documents_get", { document_number: "INV/1" })).toMatchObject({
      denomination: 90.1,
      comment: "Meanwhile.",
    });
  });

  it("return small PDF files in the answer, larger ones as an address", async () => {
    const args = { document_number: "INV/1" };
    expect(await answer("document_attachments_list", args)).toEqual({ ...args, attachments: [] });
    const small = pdf("small");
    const id = await upload("INV/1", small);
    const listed = await answer("document_attachments_list", args);
    expect(listed).toEqual(await rest("GET", "/documents/INV%2F1/attachments"));
    const found = await call("document_attachments_get", { ...args, id, as: "file" });
    const uri = `receivables://documents/INV%2F1/attachments/${id}`;
    expect(found.structuredContent).toMatchObject({
      ...args,
      id,
      mimeType: "application/pdf",
      fileSize: small.length,
      resourceUri: uri,
    });
    const blob = Buffer.from(small).toString("base64");
    expect(found.content[1]?.resource).toMatchObject({ uri, blob });
    expect((await host.readResource({ uri })).contents[0]).toMatchObject({ blob });

    const large = pdf("large", 7 * MIB);
    const largeId = await upload("INV/1", large);
    const link = await call("document_attachments_get", { ...args, id: largeId, as: "file" });
    expect(link.content[1]).toMatchObject({ type: "resource_link", size: large.length });
    const { contents } = await host.readResource({ uri: link.content[1]?.uri ?? "" });
    const [read] = contents as { blob?: string }[];
    expect(Buffer.from(read?.blob ?? "", "base64").equals(Buffer.from(large))).toBe(true);
    expect(await refusal("document_attachments_get", { ...args, id: "none" })).toMatchObject({
      code: "attachment_not_found",
    });
  });

  it("close a document after asking, once", async () => {
    const args = { document_number: "INV/1", closure_reason: "paid" };
    expect(await answer("documents_close", args)).toMatchObject({ status: "closed" });
    expect(questions.splice(0)).toEqual([
      "Close document INV/1 of account ACC/1, 90.10 USD, as paid? Open disputes on it may close too.",
    ]);
    expect(await refusal("documents_close", args)).toMatchObject({
      code: "document_already_closed",
      status: 409,
    });
    expect(questions).toEqual([]);
    const resource = await host.readResource({ uri: "receivables://documents/INV%2F1" });
    const { text } = resource.contents[0] as { text: string };
    expect(JSON.parse(text)).toMatchObject({
      document: { status: "closed" },
      attachments: { total: 1, truncated: false },
    });
  });

  verifies("D-AUD-3");
  it("record every call in the tenant's audit log", async () => {
    const { data } = await answer("audit_logs_list", {
      q: "ingest",
      limit: 100,
      fields: ["action"],
    });
    const actions = (data as { action: string }[]).map(({ action }) => action);
    expect(actions).toEqual(
      expect.arrayContaining(["account.created", "document.replaced", "document.closed"]),
    );
  });
});
