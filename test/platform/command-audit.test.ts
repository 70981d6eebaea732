import { expect, it } from "vitest";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { createClient, deleteClient, rotateClient } from "../../src/platform/admin/clients.ts";
import { issueKey, revokeKey } from "../../src/platform/admin/keys.ts";
import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { createResetLink, setPassword } from "../../src/platform/admin/passwords.ts";
import { deleteUser } from "../../src/platform/admin/people.ts";
import { createRole, deleteRole, updateRole } from "../../src/platform/admin/roles.ts";
import { setRoute } from "../../src/platform/admin/routes.ts";
import { createTenant, setTenant } from "../../src/platform/admin/tenants.ts";
import { createUser, updateUser } from "../../src/platform/admin/users.ts";
import { createResetTokens } from "../../src/platform/reset-tokens.ts";
import { randomId } from "../../src/kit/ids.ts";
import { AUDIT_LOGS, rowsOf } from "../support/audit.ts";
import { importRecords } from "../support/importing.ts";
import {
  configure,
  MASTER_KEY,
  onEveryStore,
  useExportCaller,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "commands";
const OPERATOR = "the-operator";
const PERSON = { tenantId: TENANT, email: "new@commands.example" };

verifies("OP-02");
onEveryStore("audit entries of commands", (at) => {
  const admin = useTenant(at, TENANT);
  const read = useExportCaller(at, TENANT, ["audit:read"]);

  const needsOf = () => {
    const needs = { store: at().store, clock: at().clock, newId: randomId };
    return { ...needs, record: createRecordChange({ ...needs, operator: OPERATOR }) };
  };
  const entriesOf = async (query: string) =>
    (await read("GET", `${AUDIT_LOGS}?endpoint=${query}`)).body.data.toReversed();
  const count = async () => (await rowsOf(at().store.read, TENANT)).length;

  verifies("OP-03");
  it("adds one entry for each change, with the operator and the record", async () => {
    const { category, assignee, resolution } = await configure(admin);
    const needs = needsOf();
    const names = { firstName: "A", lastName: "B" };
    await setTenant(needs, TENANT, ["requireKnownDocument=false"]);
    const grants = ["Dispute Management : READ"];
    const { roleId } = await createRole(needs, { tenantId: TENANT, name: "Reader", grants });
    const made = { ...PERSON, ...names, roles: ["Reader"] };
    const { userId } = await createUser(needs, made, async () => "correct horse battery");
    await updateUser(needs, { ...PERSON, roles: ["Viewer"], status: "Inactive" });
    const setting = { tenantId: TENANT, code: "CREDIT", value: true };
    await setApplyWhenInvoiceClosed(needs, setting);
    await setRoute(needs, { tenantId: TENANT, category: "PRICE", assignee: "ana@sales.example" });
    const { keyId } = await issueKey(needs, {
      tenantId: TENANT,
      name: "x",
      scopes: ["audit:read"],
    });
    await revokeKey(needs, keyId);
    const client = { tenantId: TENANT, name: "Job", role: "Viewer", credential: "secret" as const };
    const { clientId } = await createClient(needs, client);
    await rotateClient(needs, { clientId, credential: "secret" });
    await deleteClient(needs, clientId);
    await updateRole(needs, { tenantId: TENANT, name: "Reader", rename: "Readers" });
    await deleteRole(needs, { tenantId: TENANT, name: "Readers", confirm: "Readers" });
    await setPassword(needs, PERSON, async () => "another battery of horses");
    const tokens = createResetTokens(MASTER_KEY, at().clock);
    await createResetLink({ ...needs, tokens }, PERSON, "https://ar.example");
    await deleteUser(needs, { ...PERSON, confirm: PERSON.email });
    const entries = await entriesOf("admin");
    const expected: [action: string, metadata: object][] = [
      ["admin.tenant_changed", { requireKnownDocument: false, resourceId: TENANT }],
      ["admin.role_created", { grants: grants[0], resourceId: roleId }],
      ["admin.user_created", { roles: "Reader", status: "Active", resourceId: userId }],
      ["admin.user_changed", { roles: "Viewer", status: "Inactive", resourceId: userId }],
      [
        "admin.resolution_set",
        { applyWhenInvoiceClosed: true, resourceId: resolution.resolutionId },
      ],
      ["admin.route_set", { assigneeId: assignee.assigneeId, resourceId: category.categoryId }],
      ["admin.key_issued", { scopes: "audit:read", resourceId: keyId }],
      ["admin.key_revoked", { resourceId: keyId }],
      [
        "admin.client_created",
        {
          client: "Job",
          role: "Viewer",
          authentication: "client_secret_basic",
          resourceId: clientId,
        },
      ],
      [
        "admin.client_rotated",
        { client: "Job", authentication: "client_secret_basic", resourceId: clientId },
      ],
      ["admin.client_deleted", { client: "Job", resourceId: clientId }],
      ["admin.role_changed", { grants: grants[0], resourceId: roleId }],
      ["admin.role_deleted", { resourceId: roleId }],
      ["admin.user_password_set", { resourceId: userId }],
      ["admin.user_reset_link_created", { resourceId: userId }],
      ["admin.user_deleted", { personRemoved: true, resourceId: userId }],
    ];
    expect(
      entries.map((one: { action: string; metadata: object }) => [one.action, one.metadata]),
    ).toEqual(expected.map(([action, metadata]) => [action, { ...metadata, actor: OPERATOR }]));
    expect(entries[0]).toMatchObject({ method: "CLI", endpoint: "admin", statusCode: 200 });
    const ofKey = await read("GET", `${AUDIT_LOGS}?resourceId=${keyId}`);
    expect(ofKey.body.data).toHaveLength(2);
    expect(await verifyAudit(at(), TENANT)).toMatchObject({ ok: true });
  });

  it("starts the log of a new tenant with its creation", async () => {
    await createTenant(needsOf(), { tenantId: "created", name: "Created" });
    const [first, ...others] = await rowsOf(at().store.read, "created");
    expect([first?.action, others]).toEqual(["admin.tenant_created", []]);
  });

  it("adds no entry for a command that was refused or failed, and keeps nothing of its change", async () => {
    const before = await count();
    const needs = needsOf();
    const role = { tenantId: TENANT, name: "Viewer", grants: [] };
    await expect(createRole(needs, role)).rejects.toMatchObject({ code: "conflict" });
    const full = { ...needs, record: () => Promise.reject(new Error("disk full")) };
    await expect(issueKey(full, { tenantId: TENANT, name: "lost" })).rejects.toThrow("disk full");
    const keys = at().store.read.selectFrom("export_keys").select("id").where("name", "=", "lost");
    expect(await keys.execute()).toEqual([]);
    expect(await count()).toBe(before);
  });

  it("adds one entry for each batch of an import that changes something, with the counts so far", async () => {
    const { record } = needsOf();
    const csv = "account_number,name,currency\nA-1,One,USD\nA-2,Two,USD\nA-3,,USD\n";
    await importRecords(at(), TENANT, "accounts", csv, { record });
    await importRecords(at(), TENANT, "accounts", csv, { record });
    const stopped = { record, ended: AbortSignal.abort() };
    const long = `account_number,name,currency\n${Array.from({ length: 2501 }, (_, index) => `L-${index},L,USD`).join("\n")}`;
    await expect(importRecords(at(), TENANT, "accounts", long, stopped)).rejects.toThrow("stopped");
    const broken = importRecords(at(), TENANT, "accounts", csv, {
      record,
      map: { account_number: "Number", name: "name", currency: { value: "USD" } },
    });
    await expect(broken).rejects.toMatchObject({ code: "invalid_request" });
    const entries = await entriesOf("import");
    const counts = { read: 3, skipped: 0, rejected: 1 };
    const LONG = { read: 2500, written: 2500, unchanged: 0, skipped: 0, rejected: 0 };
    expect(entries.map((one: { metadata: object }) => one.metadata)).toMatchObject([
      { ...counts, written: 2, unchanged: 0, status: "completed", actor: OPERATOR },
      { ...counts, written: 0, unchanged: 2, status: "completed", actor: OPERATOR },
      { ...LONG, status: "running", actor: OPERATOR },
      { ...LONG, status: "stopped", actor: OPERATOR },
    ]);
    expect(entries[0]).toMatchObject({ action: "import.accounts", method: "CLI" });
  });
});
