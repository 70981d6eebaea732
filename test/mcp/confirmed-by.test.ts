import { afterAll, beforeAll, expect, it } from "vitest";
import { CONFIRM_TOOL } from "../../src/views/views.ts";
import { AUDIT_LOGS } from "../support/audit.ts";
import { CONFIGURATION, onEveryStore, useExportCaller } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { ASKED_HOSTS, type AskedHost, type Options } from "./asked-hosts.ts";
import { readConfirmation } from "./confirming.ts";
import { createRecords, createTenantBroker, type Tenant } from "./each-tool.ts";
import { createOptions, type Result, YES } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

verifies("WK-14");
onEveryStore("the audit entry of a change that a tool made", (at) => {
  let tenant: Tenant;
  let options: Options;
  const reader = useExportCaller(at, "confirmed", ["audit:read"]);
  let records: Records;
  const [, mode, connect] = ASKED_HOSTS[0] ?? [];

  beforeAll(async () => {
    tenant = { at: at(), tenantId: "confirmed", admin: await at().tenant("confirmed") };
    options = await createOptions(await createTenantBroker(tenant), { now: () => Date.now() });
    records = await createRecords(tenant, "one");
  });
  afterAll(() => options.broker.close());

  const create = async (code: string): Promise<{ departmentId: string }> => {
    const body = { code, description: code };
    const created = await tenant.admin.call("POST", `${CONFIGURATION}/departments`, { body });
    return { departmentId: created.body.departmentId };
  };
  const open = async (host: Partial<AskedHost>) => {
    if (mode === undefined || connect === undefined) throw new Error("no host");
    return connect(options, { mode, ...host });
  };
  const confirmedBy = async (action: string): Promise<unknown> => {
    const { body } = await reader("GET", `${AUDIT_LOGS}?limit=50`);
    const entries = body.data as { action: string; metadata: Record<string, unknown> }[];
    return entries.find((entry) => entry.action === action)?.metadata["confirmedBy"];
  };
  const ticketIn = ({ _meta = {} }: Result): unknown => _meta["receivables/ticket"];

  it("says that a form confirmed it", async () => {
    const host = await open({ person: YES });
    await host.call("departments_delete", await create("FORM"));
    expect(await confirmedBy("department.deleted")).toBe("form");
  });

  it("says that a view confirmed it, for each of several changes too", async () => {
    const host = await open({ showsViews: true });
    const asked = await host.call("departments_delete", await create("VIEW"));
    await host.call(CONFIRM_TOOL, { ticket: ticketIn(asked) });
    expect(await confirmedBy("department.deleted")).toBe("view");
    const { disputeId } = records.dispute;
    const changes = [{ disputeId, change: { status: "Closed" } }];
    const several = await host.call("disputes_apply", { changes });
    await host.call(CONFIRM_TOOL, { ticket: ticketIn(several) });
    expect(await confirmedBy("dispute.closed")).toBe("view");
  });

  it("says that a token confirmed it", async () => {
    const host = await open({});
    const args = await create("TOKEN");
    const { confirmationToken } = readConfirmation(await host.call("departments_delete", args));
    await host.call("departments_delete", { ...args, confirmationToken });
    expect(await confirmedBy("department.deleted")).toBe("token");
  });

  it("says that no question was due, and nothing of reads and of calls without a tool", async () => {
    const host = await open({ person: YES });
    await host.call("departments_create", { code: "NONE", description: "none" });
    expect(await confirmedBy("department.created")).toBe("none");
    await host.call("departments_list", {});
    expect(await confirmedBy("department.listed")).toBeUndefined();
    await create("REST");
    expect(await confirmedBy("department.created")).toBeUndefined();
    const { departmentId } = await create("FORGED");
    const path = `${CONFIGURATION}/departments/${departmentId}`;
    for (const headers of [
      { "X-Platform-Confirmed-By": "form" },
      { "X-Platform-Confirmed-By": "magic", "X-Platform-Mcp-Tool": "departments_update" },
    ]) {
      await tenant.admin.call("PUT", path, { body: { description: "x" }, headers });
      expect(await confirmedBy("department.updated")).toBeUndefined();
    }
  });
});
