import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { exportTenant } from "../../src/platform/admin/tenant-export.ts";
import { importTenant } from "../../src/platform/admin/tenant-import.ts";
import { deleteTenant } from "../../src/platform/admin/tenant-removal.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import { hashSecret, makeKey } from "../../src/platform/credentials.ts";
import { DEMO_TENANT, loadDemo } from "../../src/platform/demo/load.ts";
import { HOUR } from "../../src/kit/clock.ts";
import { readTenant } from "../../src/platform/store/queries/tenants.ts";
import { linesOf, needsOf, rewrite } from "../support/archives.ts";
import { rowsOf } from "../support/audit.ts";
import { filesUnder } from "../support/pdf.ts";
import {
  CONFIGURATION,
  DISPUTES,
  type Person,
  startPlatform,
  type TestPlatform,
} from "../support/platform.ts";
import { type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const { tenantId } = DEMO_TENANT;
const WEBHOOKS = "/api/v1/remittance-export/webhooks";

/** A platform whose store has a master key of its own. */
const startForeign = ({ name, create }: Dialect) => startPlatform({ name, createMigrated: create });

const hashesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    filesUnder(folder)
      .filter((path) => !/(manifest\.json|audit_logs\.ndjson|audit_heads\.ndjson)$/.test(path))
      .map((path) => [
        path.slice(folder.length),
        createHash("sha256").update(readFileSync(path)).digest("hex"),
      ]),
  );

/** The hashes without the tables of people and keys: passwords and keys of another installation do not come in. */
const recordsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hashesIn(folder)).filter(
      ([name]) => !/(users|_keys|import_changes|dispute_attachments)\.ndjson$/.test(name),
    ),
  );

const countTenants = async ({ store }: TestPlatform) =>
  (await store.read.selectFrom("tenants").select("id").execute()).length;

verifies("OP-12");
describe.each(dialects.map((from, index) => [from, dialects[1 - index] ?? from] as const))(
  "a tenant that is moved",
  (from, to) => {
    let parent: string;
    let folder: string;
    let source: TestPlatform;
    let ann: Person;
    const opened: TestPlatform[] = [];
    const start = async (made: Promise<TestPlatform>) => {
      const at = await made;
      opened.push(at);
      return at;
    };

    beforeAll(async () => {
      parent = mkdtempSync(join(tmpdir(), "receivables-move-"));
      folder = join(parent, "first");
      source = await start(startPlatform(from));
      await loadDemo(needsOf(source));
      ann = await source.person(tenantId, { roles: ["Administrator"] });
      const reader = await source.exportCaller(tenantId);
      // Some readers of lines end one at this character.
      const odd = { code: "ODD", description: "a\u2028b" };
      const made = await ann.call("POST", `${CONFIGURATION}/departments`, { body: odd });
      if (made.status !== 201) throw new Error(made.text);
      const body = { callbackUrl: "https://hooks.example/in" };
      const hook = await reader("POST", WEBHOOKS, { body });
      if (hook.status !== 201) throw new Error(hook.text);
      await exportTenant(needsOf(source), { tenantId, folder });
    });
    afterAll(async () => {
      await Promise.all(opened.map((at) => at.close()));
      rmSync(parent, { recursive: true, force: true });
    });

    it(`from ${from.name} to ${to.name} is equal record for record, and its people can log in`, async () => {
      const target = await start(startPlatform(to));
      const result = await importTenant(needsOf(target), folder);
      expect(result.audit).toMatchObject({ chain: "kept", wasValid: true });
      const again = join(parent, "again");
      const exported = await exportTenant(needsOf(target), { tenantId, folder: again });
      expect(exported).toMatchObject({ missingFiles: [], auditOk: true });
      expect(exported.files).toBeGreaterThan(10);
      expect(hashesIn(again)).toEqual(hashesIn(folder));
      expect(Object.keys(hashesIn(again)).length).toBeGreaterThan(40);
      const [before, after] = [linesOf(folder, "audit_logs"), linesOf(again, "audit_logs")];
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.slice(before.length)).toMatchObject([{ action: "admin.tenant_imported" }]);
      expect(await verifyAudit(target, tenantId)).toMatchObject({ ok: true });
      const { email, password } = ann;
      const login = { body: { email, password } };
      const list = async (at: TestPlatform): Promise<unknown> => {
        const { body } = await at.call("POST", "/authentication/v1/login", login);
        const headers = { "X-Platform-Auth": String(body.accessToken) };
        const path = DISPUTES.replace("{t}", tenantId);
        return (await at.call("GET", `${path}?Page=1&PageSize=1000`, { headers })).body;
      };
      const [mine, theirs] = [await list(source), await list(target)];
      expect((mine as unknown[]).length).toBeGreaterThan(100);
      expect(theirs).toEqual(mine);
      expect(statSync(folder).mode % 0o1000).toBe(0o700);
      expect(statSync(join(folder, "users.ndjson")).mode % 0o1000).toBe(0o600);
      await expect(importTenant(needsOf(target), folder)).rejects.toMatchObject({
        code: "conflict",
      });
    });

    it(`from ${from.name} to a store with another master key has its log signed again`, async () => {
      const target = await start(startForeign(to));
      const { audit } = await importTenant(needsOf(target, 9), folder);
      expect(audit).toMatchObject({ chain: "signed_again", wasValid: null });
      expect(await verifyAudit(target, tenantId)).toMatchObject({ ok: true });
      const [before, after] = [
        linesOf(folder, "audit_logs"),
        await rowsOf(target.store.read, tenantId),
      ];
      const idsOf = (rows: object[]) => rows.map((row) => ({ ...row, hash: "", prev_hash: "" }));
      expect(idsOf(after.slice(0, before.length))).toEqual(idsOf(before));
      const again = join(parent, "foreign");
      await exportTenant(needsOf(target, 9), { tenantId, folder: again });
      expect(recordsIn(again)).toEqual(recordsIn(folder));
    });

    verifies("C-35");
    it(`from ${from.name} brings no API key for a person of the store, and no other tenant's files`, async () => {
      const target = await start(startPlatform(to));
      const victim = await target.tenant("victim");
      const forged = join(parent, "forged");
      cpSync(folder, forged, { recursive: true });
      const { userId: user_id, email } = victim;
      const [row] = linesOf(forged, "users");
      const mine = { ...row, id: user_id, email, email_folded: email };
      const apiKey = makeKey("rcvg_");
      const facts = {
        id: randomId(),
        prefix: apiKey.slice(0, 8),
        created_at: 0,
        used_at: target.clock(),
      };
      const key = { ...facts, tenant_id: tenantId, user_id, hash: hashSecret(apiKey) };
      rewrite(forged, { users: [mine], api_keys: [key] });
      const { connection_id } = await readTenant(target.store.read, "victim");
      const twin = join(parent, "twin");
      cpSync(folder, twin, { recursive: true });
      rewrite(twin, { tenants: [{ ...linesOf(twin, "tenants")[0], connection_id }] });
      await expect(importTenant(needsOf(target), twin)).rejects.toThrow(
        "victim has the connection",
      );
      expect(await importTenant(needsOf(target), forged)).toMatchObject({ keysLeftOut: 1 });
      const headers = { "X-Platform-Api-Key": apiKey };
      const path = DISPUTES.replace("{t}", "victim");
      expect((await target.call("GET", path, { headers })).status).toBe(401);
    });

    verifies("OP-10");
    it(`keeps its files where it is deleted and imported again (${to.name})`, async () => {
      const target = await start(startPlatform(to));
      const needs = needsOf(target);
      const wish = { tenantId, confirm: tenantId };
      const { files } = await importTenant(needs, folder);
      await deleteTenant(needs, wish);
      await importTenant(needs, folder);
      target.clock.advance(2 * HOUR);
      await target.platform.worker.runDue();
      expect(filesUnder(target.files).length).toBeGreaterThanOrEqual(files);
      expect(await deleteTenant(needs, wish)).toMatchObject({ deleted: true });
    });

    it(`from ${from.name} is refused where something stands against it, and nothing is left`, async () => {
      const target = await start(startPlatform(to));
      const needs = needsOf(target);
      await createTenant(needs, { tenantId: "other", name: "Other" });
      const names = { firstName: "A", lastName: "B", roles: ["Viewer"] };
      const taken = { tenantId: "other", email: ann.email, ...names };
      await createUser(needs, taken, async () => "eleven purple accordions");
      await expect(importTenant(needs, folder)).rejects.toThrow(ann.email);
      await target.store.transaction((tx) => tx.deleteFrom("users").execute());

      const broken = { ...needs.files, put: () => Promise.reject(new Error("disk full")) };
      await expect(importTenant({ ...needs, files: broken }, folder)).rejects.toThrow("disk full");
      const rows = await target.store.read.selectFrom("disputes").select("id").execute();
      expect([await countTenants(target), rows, filesUnder(target.files)]).toEqual([1, [], []]);

      const changed = join(parent, "changed");
      await exportTenant(needsOf(source), { tenantId, folder: changed });
      appendFileSync(join(changed, "disputes.ndjson"), "{}\n");
      await expect(importTenant(needs, changed)).rejects.toThrow("was changed");
      await expect(importTenant(needs, parent)).rejects.toThrow("is no exported tenant");
      await expect(exportTenant(needsOf(source), { tenantId, folder })).rejects.toThrow(
        "not empty",
      );
      expect(await countTenants(target)).toBe(1);
      expect(readdirSync(folder)).toContain("manifest.json");
    });
  },
);
