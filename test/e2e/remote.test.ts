import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLI, type Ready, runAdmin, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";
import { withoutAbout } from "../mcp/hosts.ts";

const PASSWORD = "only the tests know this one";
const LOG = "/api/v1/remittance-export/audit-logs?limit=1000";

type Answer = {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { type: string; text?: string }[];
  _meta?: Record<string, unknown>;
};
type Tool = {
  inputSchema: { required?: string[] | undefined };
  name: string;
  annotations?: { readOnlyHint?: boolean | undefined } | undefined;
};
type Host = {
  call(name: string, args?: Record<string, unknown>): Promise<Answer>;
  tools(): Promise<Tool[]>;
  close(): Promise<void>;
};

const folder = useFolder();
let platform: Running;
let ready: Ready;
let token: string;
const secrets: string[] = [PASSWORD];

const admin = (line: string[], input = "") =>
  runAdmin(line, { RECEIVABLES_DATA: join(folder, "data") }, input) as Promise<
    Record<string, string>
  >;

const rest = async (method: string, path: string, sent: { body?: unknown; key?: string } = {}) => {
  const credential =
    sent.key === undefined ? { "X-Platform-Auth": token } : { "X-API-Key": sent.key };
  const answer = await fetch(`${ready.baseUrl}${path}`, {
    method,
    headers: { ...credential, "Content-Type": "application/json" },
    ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
  });
  const text = await answer.text();
  return text === "" ? null : JSON.parse(text);
};

/** A user of the tenant with one role, and an API key of that user. */
const userWith = async (email: string, role: string): Promise<string> => {
  const name = ["--first-name", "Pat", "--last-name", "Person"];
  await admin(
    ["user", "create", "--tenant", "acme", "--email", email, ...name, "--role", role],
    PASSWORD,
  );
  const login = await rest("POST", "/authentication/v1/login", {
    body: { email, password: PASSWORD },
  });
  token = login.accessToken;
  const { apiKey } = await rest("POST", "/authentication/v1/tenants/acme/users/profile/api-key");
  secrets.push(login.accessToken, apiKey);
  return apiKey;
};

const settings = (apiKey: string, extApiKey: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  RECEIVABLES_DATA: join(folder, "host"),
  RECEIVABLES_BASE_URL: ready.baseUrl,
  RECEIVABLES_TENANT_ID: "acme",
  RECEIVABLES_API_KEY: apiKey,
  RECEIVABLES_EXT_API_KEY: extApiKey,
});

const told: string[] = [];
const listen = (stream: unknown): void => {
  (stream as NodeJS.ReadableStream | null)?.on("data", (data: Buffer) =>
    told.push(data.toString()),
  );
};

/** Records an answer for the search for secrets. */
const heard = (answer: unknown): Answer => {
  told.push(JSON.stringify(answer));
  return answer as Answer;
};

const HOST = { name: "host", version: "1.0.0" };
const CANNOT_ASK = { capabilities: {} };

type Connected = {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  listTools(): Promise<{ tools: Tool[] }>;
  close(): Promise<void>;
};

const hostOf = (client: Connected): Host => ({
  call: async (name, args = {}) => heard(await client.callTool({ name, arguments: args })),
  tools: async () => (await client.listTools()).tools,
  close: () => client.close(),
});

const serverFor = (env: Record<string, string>) => ({
  command: process.execPath,
  args: [CLI],
  env,
  stderr: "pipe" as const,
});

const newHost = async (env: Record<string, string>): Promise<Host> => {
  const client = new Client(HOST, CANNOT_ASK);
  const transport = new StdioClientTransport(serverFor(env));
  listen(transport.stderr);
  await client.connect(transport);
  return hostOf(client);
};

const oldHost = async (env: Record<string, string>): Promise<Host> => {
  const client = new OldClient(HOST, CANNOT_ASK);
  const transport = new OldTransport(serverFor(env));
  listen(transport.stderr);
  await client.connect(transport);
  return hostOf(client);
};

beforeAll(async () => {
  await admin(["tenant", "create", "acme", "--name", "Acme Inc."]);
  platform = startCli(["platform", "--port", "0"], {
    RECEIVABLES_DATA: join(folder, "data"),
    RECEIVABLES_LOGIN_RATE_MINUTE: "0",
  });
  ready = await whenReady(platform);
});
afterAll(() => platform.end("SIGTERM"));

describe("two hosts on one platform", () => {
  const BASE = "/dispute/v1/tenants/acme";
  let hosts: [Host, Host];
  let auditKey: string;

  beforeAll(async () => {
    const key = await userWith("ar@acme.example", "Administrator");
    auditKey = (await admin(["key", "issue", "--tenant", "acme", "--name", "audit"])).apiKey ?? "";
    secrets.push(auditKey);
    const env = settings(key, auditKey);
    hosts = await Promise.all([newHost(env), oldHost(env)]);
  });
  afterAll(() => Promise.all(hosts.map((host) => host.close())));

  const made = async (host: Host, name: string, args: Record<string, unknown>) => {
    const answer = await host.call(name, args);
    expect([name, answer.content[0]?.text?.slice(0, 200), answer.isError ?? false]).toEqual([
      name,
      expect.any(String),
      false,
    ]);
    return withoutAbout(answer);
  };

  verifies("C-82");
  it("work a dispute from claim to close; the platform's responses and log agree", async () => {
    const [one, two] = hosts;
    await made(one, "categories_create", { code: "PRICE", description: "Pricing" });
    await made(two, "reasons_create", {
      code: "WRONG",
      description: "Wrong price",
      categoryCode: "PRICE",
    });
    await made(one, "departments_create", { code: "SALES", description: "Sales" });
    const person = { firstName: "Ana", lastName: "Silva", email: "ana@acme.example" };
    await made(two, "assignees_create", { departmentCode: "SALES", person });
    await made(one, "resolutions_create", { code: "CREDIT", description: "Credit", isValid: true });
    const dispute = await made(one, "disputes_create", {
      amount: 1234.5,
      accountNumber: "A/1",
      documentNumber: "D 1",
      reasonCode: "wrong",
    });
    const disputeId = String(dispute["disputeId"]);
    await made(two, "disputes_update", { disputeId, assigneeEmail: "ana@acme.example" });
    await made(one, "dispute_notes_create", { disputeId, content: "Asked for the price list." });
    const close = { disputeId, status: 1, resolutionCode: "CREDIT" };
    const asked = await two.call("disputes_update", close);
    expect(asked.isError).toBe(true);
    const confirmation = asked._meta?.["receivables/confirmation"] as { confirmationToken: string };
    expect(await rest("GET", `${BASE}/disputes/${disputeId}`)).toMatchObject({ status: 0 });
    const { confirmationToken } = confirmation;
    const changed = await two.call("disputes_update", { ...close, status: 2, confirmationToken });
    expect(changed.content[0]?.text).toMatch(/^confirmation_invalid: /);
    await made(two, "disputes_update", { ...close, confirmationToken });
    const reused = await one.call("disputes_update", { ...close, confirmationToken });
    expect(reused.content[0]?.text).toMatch(/^confirmation_invalid: /);

    const seen = await made(one, "disputes_get", { disputeId });
    const told = await rest("GET", `${BASE}/disputes/${disputeId}`);
    expect(seen).toEqual({ ...told, status: "Closed" });
    expect(told).toMatchObject({
      status: 1,
      isValid: true,
      assigneeName: "Ana Silva",
      originSystem: "mcp",
    });
    const { data } = await rest("GET", LOG, { key: auditKey });
    const tools = data.map((entry: { metadata: { mcpTool?: string } }) => entry.metadata.mcpTool);
    for (const name of [
      "categories_create",
      "disputes_create",
      "dispute_notes_create",
      "disputes_get",
    ]) {
      expect(tools).toContain(name);
    }
    const actions = data.map((entry: { action: string }) => entry.action);
    expect(actions.filter((action: string) => action === "dispute.closed")).toHaveLength(1);
  });

  verifies("CONV-07", "C-67");
  it("have no tenant, address or key among their arguments", async () => {
    const [one] = hosts;
    for (const name of ["tenantId", "baseUrl", "apiKey", "X-Platform-Auth"]) {
      const answer = await one.call("disputes_list", { [name]: "other" });
      expect(answer.content[0]?.text).toContain(name);
      expect(answer.isError).toBe(true);
    }
  });
});

describe("a user with the role Agent", () => {
  let host: Host;
  beforeAll(async () => {
    const key = await userWith("agent@acme.example", "Agent");
    const issued = await admin([
      "key",
      "issue",
      "--tenant",
      "acme",
      "--name",
      "a",
      "--scopes",
      "audit:read,export:read,ingest:read",
    ]);
    secrets.push(issued.apiKey ?? "");
    host = await newHost(settings(key, issued.apiKey ?? ""));
  });
  afterAll(() => host.close());

  // The arguments name no record: only the permission check matters.
  const ARGUMENTS: Record<string, Record<string, unknown>> = {
    disputes_list_by_ids: { disputeIds: ["none"] },
    disputes_list_by_document_numbers: { accountNumber: "none", documentNumbers: ["none"] },
    assignees_get: { assigneeEmail: "none@none.example" },
    credit_applications_list: {
      activityType: "LASTMODIFIED",
      startDate: "2026-01-01",
      endDate: "2026-12-31",
    },
    payments_query: { source: "cashapp", filters: { paymentAmount: { gte: 0 } } },
    payments_summarize: { source: "cashapp" },
    match_claims: { lines: [{ reference: "none" }] },
    changes_since: { since: "2026-01-01" },
  };
  const nothing = (required: readonly string[] = []) =>
    Object.fromEntries(required.map((name) => [name, "none"]));

  verifies("C-83");
  it("may read everything but users, and gets the name of the missing permission", async () => {
    const tools = await host.tools();
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint);
    for (const { name, inputSchema } of reading) {
      const answer = await host.call(name, ARGUMENTS[name] ?? nothing(inputSchema.required));
      const text = answer.content[0]?.text ?? "";
      const isRefused = name.startsWith("users_list");
      expect([name, /^forbidden_permission: .*User Management : READ/.test(text)]).toEqual([
        name,
        isRefused,
      ]);
      if (!isRefused && answer.isError) expect(text).toMatch(/^\w*not_found: /);
    }
  });

  verifies("C-81");
  it("finds a secret in no output of hosts and servers", async () => {
    await host.call("dispute_notes_delete", { disputeId: "none", noteId: "none" });
    const all = [...told, platform.texts.stdout, platform.texts.stderr].join("\n");
    for (const secret of secrets) expect(all).not.toContain(secret);
    expect(secrets.every((secret) => secret.length > 20)).toBe(true);
  });
});
