import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBroker } from "../../src/broker/broker.ts";
import type { Broker } from "../../src/broker/port.ts";
import { createClient } from "../../src/client/client.ts";
import { inProcessTransport } from "../../src/client/in-process.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { activeTools } from "../../src/mcp/calls/active-tools.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import type { Tool } from "../../tools/tool.ts";
import { connectionOf } from "../support/pdf.ts";
import { onEveryStore, type Person, type TestPlatform } from "../support/platform.ts";
import { type Records, seed } from "../support/records.ts";
import { type Arguments, SAMPLES } from "../support/samples.ts";
import { CLIENTS, type Driver, DOORS } from "./doors.ts";
import type { Confirmation } from "../../src/mcp/answer/refusal.ts";
import { ALL, needsOf, type Result } from "./hosts.ts";

/** Sends and receives files by URL, which no platform in process has; `e2e/dispute-files` calls them over both doors. */
const BY_URL = new Set(["dispute_attachments_upload", "dispute_attachments_download"]);
const WITHHELD = new Set(["email", "password", "accessToken"]);

const rank = ({ name, operation }: Tool): number => {
  if (name === "auth_logout") return 5;
  // With it go its notes and attachments.
  if (name === "disputes_delete") return 4;
  if (operation.method === "DELETE") return 3;
  return operation.effect === "read" ? 1 : 2;
};

const tools = activeTools(ALL)
  .filter(({ name }) => !BY_URL.has(name))
  .toSorted((one, other) => rank(one) - rank(other));

const argumentsOf = ({ operation, name }: Tool, records: Records): Arguments => {
  const sample = SAMPLES[operation.id]?.[0];
  if (sample === undefined) throw new Error(`${name} has no sample`);
  const args = Object.entries(sample(records, `fresh-${randomId().slice(0, 8)}`));
  return Object.fromEntries(args.filter(([key]) => !WITHHELD.has(key)));
};

const saidBy = (result: Result): string =>
  result.isError === true ? (result.content[0]?.text ?? "").slice(0, 300) : "done";

const vaultOf = (): Broker["vault"] => {
  const refuse = (): Promise<never> => Promise.reject(new Error("nobody asked for this"));
  return { put: async ({ keyId }) => `kept-${keyId}`, list: refuse, show: refuse, remove: refuse };
};

type Tenant = { at: TestPlatform; tenantId: string; admin: Person };

const recordsOf = async ({ at, tenantId, admin }: Tenant, mark: string): Promise<Records> => {
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

const brokerOn = async ({ at, tenantId, admin }: Tenant): Promise<Broker> => {
  const { platform, store, clock } = at;
  const needs = { store, clock, newId: randomId };
  const { apiKey } = await issueKey(needs, { tenantId, name: `driver ${randomId()}` });
  const { email, password } = admin;
  const fetch = async (request: Request) => platform.fetch(request);
  const transport = inProcessTransport({ fetch, requestMs: MINUTE });
  return createBroker({
    client: createClient({ transport, headerWord: "Platform", log: silentLog }),
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

onEveryStore("every tool, by every client, through every door", (at) => {
  describe.each(DOORS)("%s", (door, open) => {
    describe.each(CLIENTS)("%s", (client, connect) => {
      const ends: (() => Promise<void>)[] = [];
      let tenant: Tenant;
      beforeAll(async () => {
        const tenantId = `${door} ${client}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
        tenant = { at: at(), tenantId, admin: await at().tenant(tenantId) };
      });
      afterAll(async () => {
        for (const end of ends.toReversed()) await end();
      });

      const drive = async (asks: boolean): Promise<Driver> => {
        const broker = await brokerOn(tenant);
        const server = await open(await needsOf(broker));
        const driver = await connect(server, asks);
        ends.push(
          () => broker.close(),
          () => server.close(),
          () => driver.close(),
        );
        return driver;
      };

      it("C-80 each does what it says, with an answer that fits what it declares", async () => {
        const driver = await drive(true);
        expect(driver.toolNames.length).toBe(tools.length + BY_URL.size);
        // What is deleted by its id is not what is used elsewhere, nor what is deleted by its code.
        const [used, spare] = [await recordsOf(tenant, "used"), await recordsOf(tenant, "spare")];
        const failed: [string, string][] = [];
        for (const tool of tools) {
          const isSpare = tool.operation.method === "DELETE" && !/_by_/.test(tool.operation.id);
          const args = argumentsOf(tool, isSpare ? spare : used);
          const said = saidBy(await driver.call(tool.name, args));
          if (said !== "done") failed.push([tool.name, said]);
        }
        expect(failed).toEqual([]);
      }, 60_000);

      it("whoever cannot ask a person confirms by a token", async () => {
        const driver = await drive(false);
        const { department } = await recordsOf(tenant, "token");
        const args = { departmentId: department.departmentId };
        const asked = await driver.call("departments_delete", args);
        const confirmation = asked._meta?.["receivables/confirmation"] as Confirmation;
        const { confirmationToken } = confirmation;
        const gone = await driver.call("departments_delete", { ...args, confirmationToken });
        expect(gone.structuredContent).toMatchObject({ deleted: true, ...args });
        const again = await driver.call("departments_delete", { ...args, confirmationToken });
        expect(saidBy(again)).toMatch(/^confirmation_invalid: /);
      });
    });
  });
});
