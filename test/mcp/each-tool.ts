import { createBroker } from "../../src/broker/broker.ts";
import type { Broker } from "../../src/broker/port.ts";
import { createClient } from "../../src/client/client.ts";
import type { Transport } from "../../src/client/port.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { isInsightTool, type Tool } from "../../tools/tool.ts";
import { connectionOf } from "../support/pdf.ts";
import type { Person, TestPlatform } from "../support/platform.ts";
import { type Records, seed } from "../support/records.ts";
import { INSIGHT_SAMPLES } from "../support/insight-samples.ts";
import { type Arguments, SAMPLES } from "../support/samples.ts";
import type { Driver } from "./transports.ts";
import { ALL, type Result } from "./hosts.ts";

/** Tools that transfer files by URL, which a platform in process does not serve; test/e2e/dispute-files covers them. */
export const BY_URL = new Set(["dispute_attachments_upload", "dispute_attachments_download"]);
const WITHHELD = new Set(["email", "password", "accessToken"]);

const rank = (tool: Tool): number => {
  if (isInsightTool(tool)) return 1;
  const { name, operation } = tool;
  if (name === "auth_logout") return 5;
  // Notes and attachments are deleted with it.
  if (name === "disputes_delete") return 4;
  if (operation.method === "DELETE") return 3;
  return operation.effect === "read" ? 1 : 2;
};

/** All tools that the test's platform serves, ordered so that each finds the records it needs. */
export const tools = activeTools(ALL)
  .filter(({ name }) => !BY_URL.has(name))
  .toSorted((one, other) => rank(one) - rank(other));

/** Arguments of tools that take several operations. */
export const OWN_SAMPLES: Record<string, ((records: Records) => Arguments)[]> = {
  read_resource: [() => ({ uri: "receivables://guide" })],
  disputes_open: [
    ({ account, document, used }) => ({
      claims: [
        {
          accountNumber: account.account_number,
          documentNumber: document.document_number,
          amount: 1,
          reasonId: used.reasonId,
        },
      ],
    }),
  ],
  disputes_apply: [
    ({ dispute: { disputeId } }) => ({ changes: [{ disputeId, change: { poNumber: "PO-1" } }] }),
    ({ dispute: { disputeId } }) => ({ changes: [{ disputeId, change: { status: "Closed" } }] }),
  ],
};

export const argumentsOf = (tool: Tool, records: Records): Arguments => {
  const { name } = tool;
  const sample = isInsightTool(tool)
    ? INSIGHT_SAMPLES[name]
    : (SAMPLES[tool.operation.id] ?? OWN_SAMPLES[name])?.[0];
  if (sample === undefined) throw new Error(`${name} has no sample`);
  const args = Object.entries(sample(records, `fresh-${randomId().slice(0, 8)}`));
  return Object.fromEntries(args.filter(([key]) => !WITHHELD.has(key)));
};

export const readMessage = (result: Result): string =>
  result.isError === true ? (result.content[0]?.text ?? "").slice(0, 300) : "done";

const vaultOf = (): Broker["vault"] => {
  const refuse = (): Promise<never> => Promise.reject(new Error("nobody asked for this"));
  return { put: async ({ keyId }) => `kept-${keyId}`, list: refuse, show: refuse, remove: refuse };
};

export type Tenant = { at: TestPlatform; tenantId: string; admin: Person };

export const createRecords = async (
  { at, tenantId, admin }: Tenant,
  mark: string,
): Promise<Records> => {
  const key = await admin.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key");
  return seed({
    admin,
    tenantId,
    keyId: key.body.keyId,
    auditor: await at.exportCaller(tenantId, ["audit:read"]),
    ingester: await at.exportCaller(tenantId, ["ingest:write"]),
    exporter: await at.exportCaller(tenantId, ["export:read", "export:manage"]),
    connectionId: await connectionOf(at.store, tenantId),
    store: at.store,
    mark,
  });
};

/** Creates a broker of a tenant; the platform is in this process unless a transport leads to it. */
export const createTenantBroker = async (
  { at, tenantId, admin }: Tenant,
  transport?: Transport,
): Promise<Broker> => {
  const { platform, store, clock } = at;
  const needs = { store, clock, newId: randomId };
  const { apiKey } = await issueKey(needs, { tenantId, name: `driver ${randomId()}` });
  const { email, password } = admin;
  const fetch = async (request: Request) => platform.fetch(request);
  const inProcess = createInProcessTransport({ fetch, requestMs: MINUTE });
  return createBroker({
    client: createClient({
      transport: transport ?? inProcess,
      headerWord: "Platform",
      log: silentLog,
    }),
    vault: vaultOf(),
    headerWord: "Platform",
    tenantId,
    principal: email,
    credentials: async () => ({
      email,
      password: new Secret(password),
      extApiKey: new Secret(apiKey),
    }),
    log: silentLog,
  });
};

/**
 * Calls each tool once with one of two sets of records, and returns the failures with their messages. Records that are
 * deleted by id are used by no other sample.
 */
export const callEachWith = async (
  { used, spare }: { used: Records; spare: Records },
  driver: Driver,
): Promise<[string, string][]> => {
  const failed: [string, string][] = [];
  for (const tool of tools) {
    const isSpare = rank(tool) > 2 && !/_by_/.test(tool.name);
    const args = argumentsOf(tool, isSpare ? spare : used);
    // One after the other, since they build on each other.
    const said = readMessage(await driver.call(tool.name, args));
    if (said !== "done") failed.push([tool.name, said]);
  }
  return failed;
};

/** Calls each tool once and returns the failures with their messages. */
export const callEach = async (tenant: Tenant, driver: Driver): Promise<[string, string][]> =>
  callEachWith(
    { used: await createRecords(tenant, "used"), spare: await createRecords(tenant, "spare") },
    driver,
  );
