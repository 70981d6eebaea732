import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { deriveMasterKey } from "../../src/kit/master-key.ts";
import { createSeal, type MasterKey } from "../../src/kit/seal.ts";
import { createRecords, renewRecords } from "../../src/oauth/records.ts";
import { createStorage } from "../../src/records/storage.ts";
import { readSignedHead, signHead, verifyAudit } from "../../src/platform/admin/audit.ts";
import { showEvidenceKey, writeEvidence } from "../../src/platform/admin/evidence.ts";
import { pauseTenant, resumeTenant } from "../../src/platform/admin/tenant-pause.ts";
import { rotateStore } from "../../src/platform/admin/rotation.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { signEvidenceHead } from "../../src/platform/evidence-heads.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { purgeEntries } from "../../src/platform/store/audit/purge.ts";
import { createAuditKey } from "../../src/platform/store/audit-key.ts";
import { type Store, StoreUnavailable, TenantPaused } from "../../src/platform/store/port.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { SEALED_COLUMNS } from "../../src/platform/store/sealed-columns.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { entry, rowsOf } from "../support/audit.ts";
import { checkEvidence } from "../support/evidence-checker.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const [FIRST = "", SECOND = "", THIRD = "", FOREIGN = ""] = ["1", "2", "3", "4"].map((digit) =>
  `${digit}0f3a9b8c7d6e5f4`.repeat(4),
);

const openWith = async (database: Database, masterKey: MasterKey): Promise<Store> => {
  const signing = { masterKey: async () => masterKey, clock: systemClock, newId: randomId };
  const { DATABASE_URL: url, RECEIVABLES_DATA: folder = "" } = database.environment;
  return url === undefined
    ? openSqlite(join(folder, "receivables.db"), signing)
    : openPostgres(url, signing);
};

verifies("OP-41");
describe.each(dialects)("a rotation of the master key ($name)", ({ create }) => {
  let database: Database;
  const opened: Store[] = [];

  beforeEach(async () => {
    database = await create();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await database.remove();
  });

  const open = async (secret: string, previous?: string) => {
    const masterKey = await deriveMasterKey(secret, previous);
    const store = await openWith(database, masterKey);
    opened.push(store);
    return { store, masterKey, clock: systemClock, newId: randomId, operator: "ann" };
  };
  type Opened = Awaited<ReturnType<typeof open>>;

  const append = ({ store, clock }: Opened, number: number) =>
    store.transaction((tx) =>
      appendEntries(tx, store.auditKey, [entry("acme", number, clock() + number)]),
    );

  /** Begins a log of three entries under the first key. */
  const begin = async (): Promise<Opened> => {
    const first = await open(FIRST);
    await createTenant(first, { tenantId: "acme", name: "Acme" });
    for (const number of [1, 2, 3]) await append(first, number);
    return first;
  };

  it("keeps logs and signed heads verifiable when the former keys are gone", async () => {
    const kept = JSON.stringify(await signHead(await begin(), "acme"));
    const second = await open(SECOND, FIRST);
    await append(second, 4);
    expect(await rotateStore(second)).toMatchObject({ auditLogs: { renewed: 1 } });
    expect(await rotateStore(second)).toMatchObject({ auditLogs: { renewed: 0 } });
    await append(second, 5);
    await rotateStore(await open(THIRD, SECOND));
    const third = await open(THIRD);
    await append(third, 6);
    const head = readSignedHead(third, "acme", kept);
    const verdict = await verifyAudit(third, "acme", head);
    expect(verdict).toMatchObject({ ok: true, fault: null, entries: 8 });
    const actions = (await rowsOf(third.store.read, "acme")).map(({ action }) => action);
    expect(actions.filter((action) => action === "admin.key_changed")).toHaveLength(2);
    const { store } = third;
    let left = 8;
    while (left > 0) {
      expect(await verifyAudit(third, "acme")).toMatchObject({ ok: true, entries: left });
      const [oldest] = await rowsOf(store.read, "acme");
      const before = (oldest?.at ?? 0) + 1;
      const removed = await store.transaction((tx) =>
        purgeEntries(tx, store.auditKey, "acme", before),
      );
      // Entries of one millisecond go together.
      expect(removed).toBeGreaterThan(0);
      left -= removed;
    }
  });

  it("refuses a key that fits nothing, and one key alone while both are needed", async () => {
    const first = await begin();
    await expect(open(FOREIGN)).rejects.toThrow("another master key");
    await expect(open(SECOND, FOREIGN)).rejects.toThrow("another master key");
    await rotateStore(await open(SECOND, FIRST));
    await expect(open(FIRST)).rejects.toThrow(/another master key.*RECEIVABLES_SECRET_KEY/);
    // A process from before the rotation must not sign with the former key.
    await expect(append(first, 4)).rejects.toThrow(StoreUnavailable);
    expect(await verifyAudit(await open(SECOND), "acme")).toMatchObject({ ok: true });
    // Nodes that know both keys, in either order, append with the key of the log.
    await append(await open(FIRST, SECOND), 4);
    expect(await verifyAudit(await open(SECOND), "acme")).toMatchObject({ ok: true, entries: 5 });
  });

  verifies("RC-32");
  it("leaves a paused tenant paused", async () => {
    await pauseTenant(await begin(), "acme");
    expect(await rotateStore(await open(SECOND, FIRST))).toMatchObject({
      auditLogs: { renewed: 1 },
    });
    const second = await open(SECOND);
    expect(await rotateStore(second)).toMatchObject({ auditLogs: { renewed: 0 } });
    await expect(append(second, 4)).rejects.toThrow(TenantPaused);
    await resumeTenant(second, "acme");
    await append(second, 4);
    expect(await verifyAudit(second, "acme")).toMatchObject({ ok: true, entries: 5 });
  });

  verifies("OP-04");
  it("reports entries and heads that a holder of the former key has forged", async () => {
    await begin();
    await rotateStore(await open(SECOND, FIRST));
    const second = await open(SECOND);
    const former = createAuditKey(await deriveMasterKey(FIRST));
    const change = (seq: number, values: object) =>
      second.store.transaction(async (tx) => {
        await tx.updateTable("audit_logs").set(values).where("seq", "=", seq).execute();
      });
    const rows = await rowsOf(second.store.read, "acme");
    const [third, taken] = [rows[2], rows[3]];
    if (third === undefined || taken === undefined) throw new Error("no such entries");
    const forged = { ...third, status_code: 404 };
    await change(3, { status_code: 404, hash: former.link(forged) });
    await change(4, { prev_hash: former.link(forged) });
    expect(await verifyAudit(second, "acme")).toMatchObject({ ok: false, fault: "entry_changed" });
    const relinked = { ...taken, prev_hash: former.link(forged) };
    await change(4, { hash: former.takeOver(relinked) });
    await second.store.transaction(async (tx) => {
      const head = { seq: 4, hash: former.takeOver(relinked), purged_seq: 0, purged_hash: "" };
      const mac = former.head("acme", head);
      await tx
        .updateTable("audit_heads")
        .set({ ...head, mac })
        .execute();
    });
    expect(await verifyAudit(second, "acme")).toMatchObject({ ok: false });
    await second.store.transaction((tx) =>
      tx.updateTable("audit_heads").set({ key_id: former.id }).execute(),
    );
    expect(await verifyAudit(second, "acme")).toMatchObject({ ok: false, fault: "other_key" });
  });

  it("keeps the fault of a log that was changed before", async () => {
    const first = await begin();
    await first.store.transaction((tx) => tx.updateTable("audit_heads").set({ seq: 2 }).execute());
    const second = await open(SECOND, FIRST);
    await rotateStore(second);
    expect(await verifyAudit(second, "acme")).toMatchObject({ ok: false });
    await append(second, 5).catch(() => undefined);
    expect(await verifyAudit(await open(SECOND), "acme")).toMatchObject({ ok: false });
  });

  verifies("RC-20");
  it("seals the key of evidence again, which signs on under the new master key alone", async () => {
    const first = await begin();
    const kept = await signEvidenceHead(first, "acme");
    const second = await open(SECOND, FIRST);
    expect(await rotateStore(second)).toMatchObject({
      evidenceKeys: { renewed: 1, unreadable: 0 },
    });
    const alone = await open(SECOND);
    await append(alone, 4);
    const next = await signEvidenceHead(alone, "acme");
    // The rotation is an entry, too.
    expect([next.seq, next.key]).toEqual([kept.seq + 2, kept.key]);
    const { RECEIVABLES_DATA: folder = "" } = database.environment;
    const path = join(folder, "evidence.jsonl");
    await writeEvidence(alone, "acme", { from: "1970-01-01", to: "2999-12-31", path });
    const { publicKey } = await showEvidenceKey(alone, { rotate: false });
    expect(checkEvidence(path, publicKey, [kept, next])).toBeNull();
  });

  it("seals secrets, answers and sign-ins again, and counts what no key opens", async () => {
    const first = await begin();
    const { webhooks, answers } = SEALED_COLUMNS;
    if (webhooks === undefined || answers === undefined) throw new Error("no such columns");
    const seal = createSeal(first.masterKey, webhooks.purpose);
    const times = { created_at: 1, updated_at: 1 };
    const rows = Array.from({ length: 450 }, (_, index) => ({
      tenant_id: `tenant-${index % 3}`,
      id: `hook-${index}`,
      schedule_id: null,
      callback_url: "https://example.com",
      secret: index === 7 ? "damaged" : seal.seal(`secret ${index}`),
      ...times,
    }));
    await first.store.transaction((tx) => tx.insertInto("webhooks").values(rows).execute());
    const oauth = await database.openOauth();
    const storage = createStorage(oauth, systemClock);
    const record = { kind: "Grant", id: "g", value: { a: 1 }, expiresAt: systemClock() + 60_000 };
    await createRecords(storage, first.masterKey).write(record);
    const second = await open(SECOND, FIRST);
    const result = await rotateStore(second);
    expect(result["webhooks"]).toEqual({ renewed: 449, unreadable: 1 });
    expect((await rotateStore(second))["webhooks"]).toEqual({ renewed: 0, unreadable: 1 });
    expect(await renewRecords(oauth, second.masterKey)).toEqual({ renewed: 1, unreadable: 0 });
    const alone = await deriveMasterKey(SECOND);
    const kept = createSeal(alone, webhooks.purpose);
    const now = await second.store.read.selectFrom("webhooks").select(["id", "secret"]).execute();
    const opens = now.filter(
      ({ id, secret }) => kept.open(secret) === id.replace("hook-", "secret "),
    );
    expect(opens).toHaveLength(449);
    expect((await createRecords(storage, alone).find("Grant", "g"))?.value).toEqual({ a: 1 });
    await oauth.close();
  });
});
