import { beforeAll, expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { issueKey, listKeys } from "../../src/platform/admin/keys.ts";
import { deleteUser, listUsers } from "../../src/platform/admin/people.ts";
import { exportUser } from "../../src/platform/admin/person-export.ts";
import {
  createRole,
  deleteRole,
  listTenantRoles,
  updateRole,
} from "../../src/platform/admin/roles.ts";
import { createTenant, listTenants } from "../../src/platform/admin/tenants.ts";
import { createUser, updateUser } from "../../src/platform/admin/users.ts";
import { rowsOf } from "../support/audit.ts";
import { importDisputes } from "../support/importing.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const GRANT = "Dispute Management : READ";

verifies("OP-10");
onEveryStore("accounts that operators list, change and delete", (at) => {
  const admin = useTenant(at, "acme");

  const needsOf = () => {
    const needs = { store: at().store, clock: at().clock, newId: randomId };
    return { ...needs, record: createRecordChange({ ...needs, operator: "op" }) };
  };
  const everyone = async (tenantId?: string) => {
    const users = [];
    for await (const user of listUsers(at().store, tenantId)) users.push(user);
    return users;
  };
  const actionsOf = async (tenantId: string) =>
    (await rowsOf(at().store.read, tenantId)).map(({ action }) => action);

  beforeAll(() => createTenant(needsOf(), { tenantId: "other", name: "Other" }));

  it("lists tenants, users, roles and keys, without secrets", async () => {
    const tenants = await listTenants(at().store);
    expect(tenants.map(({ tenantId, phase }) => [tenantId, phase])).toEqual([
      ["acme", null],
      ["other", null],
    ]);
    const key = await issueKey(needsOf(), { tenantId: "acme", name: "bi", scopes: ["audit:read"] });
    const [listed] = await listKeys(at().store.read, "acme");
    expect(listed).toMatchObject({ keyId: key.keyId, name: "bi", scopes: ["audit:read"] });
    expect(JSON.stringify(listed)).not.toContain(key.apiKey);
    expect(await listKeys(at().store.read, "other")).toEqual([]);
    const [user] = await everyone("acme");
    expect(user).toMatchObject({ email: admin.email, roles: ["Administrator"], hasPassword: true });
    expect(JSON.stringify(user)).not.toContain("argon2id");
    expect((await listTenantRoles(at().store.read, "acme"))[0]).toMatchObject({
      name: "Administrator",
      builtIn: true,
      users: 1,
    });
    for (const list of [everyone, (id: string) => listTenantRoles(at().store.read, id)]) {
      await expect(list("none")).rejects.toMatchObject({ code: "not_found" });
    }
  });

  it("changes a role at the next request, and deletes one that no user has", async () => {
    const person = await at().person("acme", { grants: [GRANT] });
    const listed = (await everyone("acme")).find(({ email }) => email === person.email);
    const role = { tenantId: "acme", name: listed?.roles[0] ?? "" };
    const list = async () => (await person.call("GET", DISPUTES)).status;
    expect(await list()).toBe(200);
    await updateRole(needsOf(), { ...role, rename: "Clerk", grants: ["User Management : READ"] });
    expect(await list()).toBe(403);
    const clerk = { tenantId: "acme", name: "Clerk" };
    const inUse = deleteRole(needsOf(), { ...clerk, confirm: "Clerk" });
    await expect(inUse).rejects.toMatchObject({
      code: "in_use",
      message: expect.stringContaining(person.email) as string,
    });
    await updateUser(needsOf(), { tenantId: "acme", email: person.email, roles: ["Viewer"] });
    for (const confirm of [{}, { confirm: "clark" }]) {
      const refused = deleteRole(needsOf(), { ...clerk, ...confirm });
      await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    }
    const deleted = await deleteRole(needsOf(), { ...clerk, confirm: "Clerk" });
    expect(deleted).toMatchObject({ name: "Clerk", deleted: true });
    expect(await actionsOf("acme")).toEqual(
      expect.arrayContaining(["admin.role_changed", "admin.role_deleted"]),
    );
  });

  it("refuses to change built-in roles, and to give a role a taken name or an unknown grant", async () => {
    const made = await createRole(needsOf(), { tenantId: "acme", name: "Own", grants: [GRANT] });
    const own = { tenantId: "acme", name: "own" };
    const viewer = { tenantId: "acme", name: "Viewer" };
    for (const [wish, code] of [
      [() => updateRole(needsOf(), { ...viewer, rename: "Reader" }), "conflict"],
      [() => deleteRole(needsOf(), { ...viewer, confirm: "Viewer" }), "conflict"],
      [() => updateRole(needsOf(), { ...own, rename: "viewer" }), "conflict"],
      [() => updateRole(needsOf(), { ...own, grants: ["All : READ"] }), "invalid_request"],
      [() => updateRole(needsOf(), { ...own, name: "None" }), "not_found"],
    ] as const) {
      await expect(wish()).rejects.toMatchObject({ code });
    }
    const roles = await listTenantRoles(at().store.read, "acme");
    expect(roles.find(({ roleId }) => roleId === made.roleId)).toMatchObject(made);
  });

  verifies("OP-12");
  it("deletes a person, whose disputes then name a neutral assignee", async () => {
    await configure(admin);
    const { email, userId, call } = await at().person("acme", { roles: ["AR Manager"] });
    await createUser(
      needsOf(),
      { tenantId: "other", email, firstName: "Pat", lastName: "P", roles: ["Viewer"] },
      () => Promise.reject(new Error("the user exists")),
    );
    const base = "/dispute/v1/tenants/{t}";
    const { body: assignee } = await admin.call("POST", `${base}/assignees`, {
      body: { departmentCode: "SALES", userId },
    });
    const row = { accountNumber: "A-1", accountName: "One", documentNumber: "D-1", amount: "5" };
    const columns = { ...row, currencyCode: "USD", categoryCode: "PRICE", reasonCode: "WRONG" };
    const imported = { ...columns, createDate: "2026-01-05", assigneeEmail: email.toUpperCase() };
    const csv = `${Object.keys(imported).join(",")}\n${Object.values(imported).join(",")}\n`;
    expect((await importDisputes(at(), "acme", csv)).counts).toMatchObject({ written: 1 });
    const [before] = (await call("GET", DISPUTES)).body;
    expect(before).toMatchObject({ assigneeId: assignee.assigneeId });
    await call("POST", `${DISPUTES}/${before.disputeId}/disputenotes`, {
      body: { content: "mine" },
    });

    const shown = JSON.stringify(await exportUser(needsOf(), { email }));
    for (const text of [email, before.disputeCode, '"content":"mine"', '"other"', userId]) {
      expect(shown).toContain(text);
    }
    expect(shown).not.toMatch(/argon2id|token_hash/);

    const refused = deleteUser(needsOf(), { email, confirm: "someone else" });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    const left = await deleteUser(needsOf(), { email, tenantId: "other", confirm: email });
    expect(left).toMatchObject({ tenantIds: ["other"], personRemoved: false });
    expect((await call("GET", DISPUTES)).status).toBe(200);
    const deleted = await deleteUser(needsOf(), { email, confirm: email });
    expect(deleted).toMatchObject({
      tenantIds: ["acme"],
      assigneesNeutral: 1,
      personRemoved: true,
    });
    expect((await call("GET", DISPUTES)).status).toBe(401);

    const [after] = (await admin.call("GET", DISPUTES)).body;
    expect(after).toEqual({ ...before, assigneeName: "Deleted user", userId: null });
    const people = await admin.call("GET", `${base}/assignees`);
    expect(people.text.toLowerCase()).not.toContain(email);
    const { read } = at().store;
    for (const table of ["users", "assignees", "disputes", "sessions", "api_keys"] as const) {
      const text = JSON.stringify(await read.selectFrom(table).selectAll().execute());
      expect(text.toLowerCase()).not.toContain(email);
    }
    const known = read.selectFrom("known_addresses").selectAll().where("user_id", "=", userId);
    expect(await known.execute()).toEqual([]);
    const log = await rowsOf(read, "acme");
    expect(log.some(({ metadata }) => metadata.includes(userId))).toBe(true);
    expect(JSON.stringify(log)).not.toContain(email);
    expect(await verifyAudit(at(), "acme")).toMatchObject({ ok: true });
    await expect(exportUser(needsOf(), { email })).rejects.toMatchObject({ code: "not_found" });
  });
});
