import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/kit/clock.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { exportTenant } from "../../src/platform/admin/tenant-export.ts";
import { importTenant } from "../../src/platform/admin/tenant-import.ts";
import { pauseTenant, resumeTenant } from "../../src/platform/admin/tenant-pause.ts";
import { deleteTenant } from "../../src/platform/admin/tenant-removal.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { type Store, StoreUnavailable } from "../../src/platform/store/port.ts";
import { SEALS } from "../../src/platform/store/sealed-columns.ts";
import { linesOf, needsOf } from "../support/archives.ts";
import { announce, attach, disputeWithFiles } from "../support/attachments.ts";
import { everyPayment, SCHEDULES } from "../support/exports.ts";
import { filesUnder } from "../support/pdf.ts";
import {
  type Caller,
  configure,
  CONFIGURATION,
  createCaller,
  DISPUTES,
  onEveryStore,
  type Reply,
  useTenant,
} from "../support/platform.ts";
import { findRow, findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "moving";
const DEPARTMENTS = `${CONFIGURATION}/departments`;
const HOOKS = "/api/v1/remittance-export/webhooks";
const TOOL = { "X-Platform-Mcp-Tool": "departments_list" };

/** A crash: no transaction begins after this number of them. */
const crashAfter = (store: Store, transactions: number): Store => {
  let left = transactions;
  return {
    ...store,
    transaction: (act, queue) => {
      left -= 1;
      if (left < 0) return Promise.reject(new StoreUnavailable(new Error("the program has ended")));
      return store.transaction(act, queue);
    },
  };
};

verifies("RC-32");
onEveryStore("a paused tenant", (at) => {
  let parent: string;
  let folders = 0;
  const created = useTenant(at, TENANT);
  useTenant(at, "staying");
  let current: Caller;
  const owner = { call: ((...request) => current(...request)) satisfies Caller };
  /** Signs in again: sessions end with retention, and do not move. */
  const signIn = async () => {
    const { email, password } = created;
    const { body } = await at().call("POST", "/authentication/v1/login", {
      body: { email, password },
    });
    const credential = { "X-Platform-Auth": String(body["accessToken"]) };
    current = createCaller(at().platform.fetch, "http://platform.test", TENANT, credential);
  };
  const needs = () => needsOf(at());
  const pause = () => pauseTenant(needs(), TENANT);
  const resume = () => resumeTenant(needs(), TENANT);
  const remove = () => deleteTenant(needs(), { tenantId: TENANT, confirm: TENANT });
  const newFolder = (): string => join(parent, `folder-${(folders += 1)}`);
  const exportIt = async (): Promise<string> => {
    const folder = newFolder();
    await exportTenant(needs(), { tenantId: TENANT, folder });
    return folder;
  };
  const countEntries = async (): Promise<number> =>
    (await findRows(at().store.read, "audit_logs", { tenant_id: TENANT })).length;
  const jobs = () =>
    at()
      .store.read.selectFrom("jobs")
      .select(["kind", "id"])
      .where("tenant_id", "=", TENANT)
      .orderBy("kind")
      .orderBy("id")
      .execute();
  const add = (code: string, key: string): Promise<Reply> =>
    owner.call("POST", DEPARTMENTS, {
      body: { code, description: code },
      headers: { "Idempotency-Key": key },
    });

  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), "receivables-pause-"));
    const { reason } = await configure(created);
    const { path } = await disputeWithFiles(created, reason.reasonId);
    await attach(at(), created, path, { fileName: "agreement.txt", bytes: "a signed agreement" });
    await announce(created, path, "late.txt");
    const exporter = await at().exportCaller(TENANT);
    const schedule = { intervalMs: HOUR, ...everyPayment };
    await exporter("POST", SCHEDULES, { body: schedule });
    await exporter("POST", HOOKS, { body: { callbackUrl: "https://hooks.example/in" } });
  });
  beforeEach(signIn);
  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  it("refuses changes and audited reads in plain words, and nothing of it is written", async () => {
    const before = await jobs();
    expect(before.length).toBeGreaterThan(1);
    expect(await pause()).toEqual({ tenantId: TENANT, phase: "paused", jobsEnded: 0 });
    const entries = await countEntries();
    const refused = [
      await add("REFUSED", "first-key"),
      await owner.call("GET", DEPARTMENTS, { headers: TOOL }),
      await (await at().exportCaller("staying"))("GET", SCHEDULES),
    ];
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(refused[0]?.headers.get("retry-after")).toBe("2");
    expect(refused[0]?.body).toMatchObject({
      code: "unavailable",
      detail:
        "The tenant moving is paused, because it is being moved to another installation. Nothing was changed. Send the request again in a moment.",
    });
    const list = await owner.call("GET", DEPARTMENTS);
    expect([list.status, list.text.includes("REFUSED")]).toEqual([200, false]);
    expect(await pause()).toMatchObject({ phase: "paused" });
    expect([await countEntries(), await jobs()]).toEqual([entries, []]);
    at().clock.advance(401 * DAY);
    await at().platform.purge();
    await at().platform.worker.runDue();
    expect([await countEntries(), await jobs()]).toEqual([entries, []]);
    expect(await verifyAudit(at(), TENANT)).toMatchObject({ ok: true });
    await resume();
    await signIn();
    await expect(resume()).rejects.toThrow("is not paused");
    expect((await add("ACCEPTED", "first-key")).status).toBe(201);
    expect(await jobs()).toEqual(before);
    expect(await verifyAudit(at(), TENANT)).toMatchObject({ ok: true });
  });

  it("refuses no request of another tenant whose entries are written with its own", async () => {
    const { call } = await at().person("staying", { roles: ["Administrator"] });
    const other = { call };
    await pause();
    const read = (person: { call: Caller }) => person.call("GET", DEPARTMENTS, { headers: TOOL });
    const people = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? owner : other));
    const statuses = (await Promise.all(people.map(read))).map(({ status }) => status);
    expect(statuses).toEqual(people.map((person) => (person === owner ? 503 : 200)));
    await resume();
  });

  it("answers a wrong password as that of an unknown person", async () => {
    await pause();
    const login = async (email: string) => {
      const body = { email, password: "not the right one" };
      const { status, body: answer } = await at().call("POST", "/authentication/v1/login", {
        body,
      });
      return { status, code: answer["code"], detail: answer["detail"] };
    };
    const unknown = await login("nobody@moving.example");
    expect(unknown.status).toBe(401);
    expect(await login(created.email)).toEqual(unknown);
    await resume();
  });

  it("waits for a job that runs, and takes it from a node that has crashed", async () => {
    const run = { kind: "test.crashed", id: "one", tenant_id: TENANT, lane: TENANT, due_at: 0 };
    const claim = { tries: 1, lease: "of a crashed node", leased_until: at().clock() + MINUTE };
    await at().store.transaction((tx) =>
      tx
        .insertInto("jobs")
        .values({ ...run, ...claim })
        .execute(),
    );
    setTimeout(() => at().clock.advance(2 * MINUTE), 300);
    expect(await pause()).toMatchObject({ jobsEnded: 0 });
    expect(await jobs()).toEqual([]);
    await resume();
    expect((await jobs()).map(({ kind }) => kind)).not.toContain(run.kind);
  });

  it("is imported paused, and repeats its answers to requests that are sent again", async () => {
    const made = await add("ONCE", "key-of-once");
    await pause();
    const folder = await exportIt();
    expect(linesOf(folder, "audit_logs").at(-1)).toMatchObject({ action: "admin.tenant_paused" });
    expect(linesOf(folder, "idempotency_keys").length).toBeGreaterThan(0);
    await remove();
    const result = await importTenant(needs(), folder);
    expect(result).toMatchObject({ phase: "paused", audit: { chain: "kept", wasValid: true } });
    expect(await jobs()).toEqual([]);
    await resume();
    await signIn();
    const again = await add("ONCE", "key-of-once");
    expect([again.status, again.body]).toEqual([201, made.body]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await verifyAudit(at(), TENANT)).toMatchObject({ ok: true });
    expect((await jobs()).length).toBeGreaterThan(1);
  });

  it("moves its answers under another master key", async () => {
    const made = await add("FOREIGN", "key-of-foreign");
    await pause();
    const folder = await exportIt();
    await resume();
    const [row] = linesOf(folder, "idempotency_keys").filter(({ key }) => key === "key-of-foreign");
    expect(JSON.parse(String(row?.["answer"]))).toMatchObject({ output: made.body });
    await remove();
    await importTenant(needsOf(at(), 9), folder);
    const stored = await findRow(at().store.read, "idempotency_keys", { key: "key-of-foreign" });
    const theirs = createSeal(Buffer.alloc(32, 9), SEALS.answer);
    expect(theirs.open(String(stored.answer))).toMatchObject({ output: made.body });
    await remove();
    await importTenant(needs(), folder);
    await resume();
  });

  it("can be moved again, or go on, wherever the move was cut", async () => {
    const dead = (transactions: number) => ({
      ...needs(),
      store: crashAfter(at().store, transactions),
    });
    const lists = async () => (await owner.call("GET", DISPUTES)).body;
    const before = await lists();
    for (const cut of [0, 1]) {
      await expect(pauseTenant(dead(cut), TENANT)).rejects.toThrow("has ended");
    }
    await pause();
    const partial = newFolder();
    const files = { ...needs().files, open: () => Promise.reject(new Error("the program ended")) };
    await expect(
      exportTenant({ ...needs(), files }, { tenantId: TENANT, folder: partial }),
    ).rejects.toThrow("ended");
    await expect(importTenant(needs(), partial)).rejects.toThrow("is no exported tenant");
    const folder = await exportIt();
    await expect(importTenant(needs(), folder)).rejects.toThrow("Delete it first");
    await remove();
    let cuts = 0;
    for (let isDone = false; !isDone; cuts += 1) {
      isDone = await importTenant(dead(cuts), folder).then(
        () => true,
        () => false,
      );
      if (isDone) continue;
      const rows = await findRows(at().store.read, "tenants", { id: TENANT });
      // The command that deletes tenants removes the written rows.
      if (rows.length > 0) {
        expect(rows).toMatchObject([{ phase: expect.stringMatching(/importing|deleting/) }]);
        await expect(importTenant(needs(), folder)).rejects.toThrow("Delete it first");
        await expect(pause()).rejects.toThrow(/is being (imported|deleted)/);
        await remove();
      }
      const left = await findRows(at().store.read, "disputes", { tenant_id: TENANT });
      expect(left).toEqual([]);
    }
    expect(cuts).toBeGreaterThan(10);
    expect(filesUnder(at().files).length).toBeGreaterThan(0);
    await expect(resumeTenant(dead(0), TENANT)).rejects.toThrow("has ended");
    await resume();
    await signIn();
    expect(await lists()).toEqual(before);
    expect(await verifyAudit(at(), TENANT)).toMatchObject({ ok: true });
  });
});
