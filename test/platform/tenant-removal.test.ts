import { expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { deleteTenant } from "../../src/platform/admin/tenant-removal.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import { DEMO_TENANT, loadDemo } from "../../src/platform/demo/load.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import {
  ACCESS_TABLES,
  OTHER_TABLES,
  RECORD_TABLES,
} from "../../src/platform/store/queries/tenant-tables.ts";
import type { Store } from "../../src/platform/store/port.ts";
import type { Tables } from "../../src/platform/store/tables/schema.ts";
import { filesUnder } from "../support/pdf.ts";
import { DISPUTES, onEveryStore } from "../support/platform.ts";
import { listTables } from "../support/tables.ts";
import { verifies } from "../support/verifies.ts";

const TABLES = [
  ...Object.keys(ACCESS_TABLES),
  ...Object.keys(RECORD_TABLES),
  ...Object.keys(OTHER_TABLES),
] as (keyof Tables)[];

verifies("OP-10");
onEveryStore("the deletion of a tenant", (at) => {
  const needsOf = () => {
    const files = createDiskFiles(at().files);
    const needs = { store: at().store, clock: at().clock, newId: randomId, files };
    return { ...needs, record: createRecordChange({ ...needs, operator: "op" }) };
  };
  const countRows = async (tenantId: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const table of TABLES) {
      const rows = await at()
        .store.read.selectFrom(table)
        .select("tenant_id")
        .where("tenant_id", "=", tenantId)
        .execute();
      counts[table] = rows.length;
    }
    return counts;
  };
  const { tenantId } = DEMO_TENANT;
  const EMPTY = Object.fromEntries(TABLES.map((table) => [table, 0]));

  it("knows every table that has rows of tenants", async () => {
    const tables = await listTables(at().store.read);
    const owned = tables
      .filter(({ columns }) => columns.some(({ name }) => name === "tenant_id"))
      .map(({ name }) => name)
      // The search index keeps these beside the tables themselves.
      .filter((name) => !["accounts_numbers", "documents_numbers"].includes(name));
    expect(owned.toSorted()).toEqual(TABLES.toSorted());
  });

  it("changes nothing without the repeated name", async () => {
    await loadDemo(needsOf());
    const before = await countRows(tenantId);
    for (const confirm of [{}, { confirm: "dem" }, { confirm: "" }]) {
      const refused = deleteTenant(needsOf(), { tenantId, ...confirm });
      await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    }
    const unknown = deleteTenant(needsOf(), { tenantId: "none", confirm: "none" });
    await expect(unknown).rejects.toMatchObject({ code: "not_found" });
    expect(await countRows(tenantId)).toEqual(before);
  });

  it("goes on where it was interrupted, and leaves other tenants as they are", async () => {
    const other = await at().tenant("other");
    const person = await at().person(tenantId, { roles: ["Viewer"] });
    const shared = { tenantId, email: other.email, firstName: "A", lastName: "B" };
    await createUser(needsOf(), { ...shared, roles: ["Viewer"] }, async () => "");
    await issueKey(needsOf(), { tenantId, name: "bi" });
    const kept = await countRows("other");
    expect(filesUnder(at().files).length).toBeGreaterThan(10);
    expect((await person.call("GET", DISPUTES)).status).toBe(200);

    let steps = 0;
    const { store } = at();
    const transaction: Store["transaction"] = (act, queue) => {
      steps += 1;
      if (steps > 20) throw new Error("killed");
      return store.transaction(act, queue);
    };
    const stopped = { ...needsOf(), store: { ...store, transaction } };
    const wish = { tenantId, confirm: DEMO_TENANT.name };
    await expect(deleteTenant(stopped, wish)).rejects.toThrow("killed");
    expect((await person.call("GET", DISPUTES)).status).toBe(401);
    const again = createTenant(needsOf(), { tenantId, name: "Demo" });
    await expect(again).rejects.toMatchObject({ code: "conflict" });
    const joining = createUser(needsOf(), { ...shared, roles: ["Viewer"] }, async () => "");
    await expect(joining).rejects.toThrow("is being deleted");

    const removed = await deleteTenant(needsOf(), { tenantId, confirm: tenantId });
    expect(removed).toMatchObject({ tenantId, deleted: true });
    expect(removed.rows).toBeGreaterThan(1000);
    expect(await countRows(tenantId)).toEqual(EMPTY);
    expect(filesUnder(at().files)).toEqual([]);
    expect(await countRows("other")).toEqual(kept);
    expect((await other.call("GET", DISPUTES)).status).toBe(200);
    const users = await store.read.selectFrom("users").select("email").execute();
    expect(users.map(({ email }) => email)).toEqual([other.email]);
    expect((await createTenant(needsOf(), { tenantId, name: "Demo" })).tenantId).toBe(tenantId);
  });

  verifies("OP-12");
  it("removes a tenant whose import was killed", async () => {
    await createTenant(needsOf(), { tenantId: "imported", name: "Imported" });
    await issueKey(needsOf(), { tenantId: "imported", name: "bi" });
    // What an import has written before its last transaction.
    const { read } = at().store;
    await read.updateTable("tenants").set({ phase: "importing" }).execute();
    await read.deleteFrom("audit_heads").where("tenant_id", "=", "imported").execute();
    const wish = { tenantId: "imported", confirm: "imported" };
    expect(await deleteTenant(needsOf(), wish)).toMatchObject({ deleted: true, auditHead: null });
    expect(await countRows("imported")).toEqual(EMPTY);
  });
});
