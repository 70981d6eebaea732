import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { showEvidenceKey, writeEvidence } from "../../src/platform/admin/evidence.ts";
import { verifyEvidence } from "../../src/platform/admin/verify-evidence.ts";
import { signEvidenceHead } from "../../src/platform/evidence-heads.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { purgeEntries } from "../../src/platform/store/audit/purge.ts";
import { toSearchColumns } from "../../src/platform/store/audit/entries.ts";
import { computeUnkeyedHash } from "../../src/platform/store/audit-key.ts";
import { listMigrations } from "../../src/platform/store/migrations/migrate.ts";
import type { Db, Store } from "../../src/platform/store/port.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { createPostgresDialect } from "../../src/platform/store/postgres/dialect.ts";
import { createDatabaseDialect } from "../../src/platform/store/sqlite/dialect.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { checkEvidence } from "../support/evidence-checker.ts";
import { signingIn } from "../support/signing.ts";
import { type Database, type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { createTestPool } from "../support/postgres.ts";

const SEALING = {
  key: async (): Promise<never> => {
    throw new Error("no chain is sealed before this step");
  },
  clock: systemClock,
  newId: randomId,
};
const TYPES = {
  sqlite: { text: "text", integer: "integer", double: "real" },
  postgres: { text: sql`text collate "C"`, integer: "bigint", double: "double precision" },
} as const;

const connect = ({ environment }: Database, dialect: Dialect["name"]): Db => {
  const { RECEIVABLES_DATA: folder = "", DATABASE_URL: connectionString } = environment;
  return new Kysely({
    dialect:
      dialect === "sqlite"
        ? createDatabaseDialect(new DatabaseSync(join(folder, "receivables.db")), {
            exclusive: true,
            retryMs: 0,
          })
        : createPostgresDialect(createTestPool({ connectionString })),
  });
};

const tenantRow = (id: string) => ({
  id,
  name: id,
  currency_model: "basic" as const,
  currency: "USD",
  connection_id: id,
  settings: "{}",
  is_partner: 0 as const,
  test_tenant_id: null,
  created_at: 0,
});

/** A chain as programs without an audit key wrote it. */
const writeUnkeyed = async (db: Db, tenantId: string, entries: number): Promise<void> => {
  let hash = "";
  for (let seq = 1; seq <= entries; seq++) {
    const about = { method: "GET", endpoint: "/payments/query", action: "payments.queried" };
    const link = {
      ...about,
      tenant_id: tenantId,
      seq,
      id: `old-${seq}`,
      at: seq,
      status_code: 200,
      metadata: "{}",
      prev_hash: hash,
    };
    hash = computeUnkeyedHash(link);
    const row = { ...link, ...toSearchColumns({ ...about, metadata: {} }), hash };
    await db.insertInto("audit_logs").values(row).execute();
  }
  await sql`insert into audit_heads (tenant_id, seq, hash, purged_seq, purged_hash)
    values (${tenantId}, ${entries}, ${hash}, 0, '')`.execute(db);
};

/** A database from before the step that gives chains a key, with one tenant that has entries and one without. */
const createOld = async (database: Database, dialect: Dialect["name"]): Promise<void> => {
  const db = connect(database, dialect);
  const all = Object.entries(listMigrations(TYPES[dialect], SEALING));
  const before = all.slice(
    0,
    all.findIndex(([name]) => name === "0010-audit-key"),
  );
  const provider = { getMigrations: async () => Object.fromEntries(before) };
  const { error } = await new Migrator({ db: db as never, provider }).migrateToLatest();
  expect(error).toBeUndefined();
  for (const id of ["acme", "silent"]) {
    await db.insertInto("tenants").values(tenantRow(id)).execute();
  }
  await writeUnkeyed(db, "acme", 5);
  await db.destroy();
};

for (const dialect of dialects) {
  describe(`a store from before audit chains had a key (${dialect.name})`, () => {
    let database: Database;
    let store: Store | undefined;
    beforeEach(async () => {
      database = await dialect.create();
      await createOld(database, dialect.name);
    });
    afterEach(async () => {
      await store?.close();
      store = undefined;
      await database.remove();
    });
    const open = async (): Promise<Store> => {
      await store?.close();
      store = await database.open();
      return store;
    };
    const append = async (opened: Store, tenantId: string): Promise<void> => {
      const entry = {
        tenantId,
        id: randomId(),
        at: systemClock(),
        method: "GET",
        endpoint: "/audit-logs",
        action: "audit.queried",
        statusCode: 200,
        metadata: {},
      };
      await opened.transaction((tx) => appendEntries(tx, opened.auditKey, [entry]));
    };

    verifies("C-97", "D-AUD-4", "OP-04");
    it("seals each chain once, by an entry that records its end, and verifies", async () => {
      const first = await open();
      const unkeyed = { to: 5, sealedAt: expect.any(String) };
      expect(await verifyAudit({ store: first }, "acme")).toMatchObject({
        ok: true,
        entries: 6,
        unkeyed,
      });
      expect(await verifyAudit({ store: first }, "silent")).toMatchObject({ ok: true, entries: 0 });
      await append(first, "acme");
      await append(first, "silent");
      const again = await open();
      expect(await verifyAudit({ store: again }, "acme")).toMatchObject({
        ok: true,
        entries: 7,
        unkeyed,
      });
      const rows = await again.read
        .selectFrom("audit_logs")
        .select(["seq", "metadata", "prev_hash"])
        .where("action", "=", "audit.sealed")
        .execute();
      expect(rows).toEqual([
        { seq: 6, metadata: expect.any(String), prev_hash: expect.any(String) },
      ]);
      expect(JSON.parse(rows[0]?.metadata ?? "")).toEqual({
        entries: 5,
        lastEntry: 5,
        lastHash: rows[0]?.prev_hash,
      });
      expect(await verifyAudit({ store: again }, "silent")).toMatchObject({ ok: true, entries: 1 });
    });

    verifies("C-97", "D-AUD-4", "OP-04");
    it("reports changed entries before the seal, relinked or not", async () => {
      const opened = await open();
      await append(opened, "acme");
      await opened.transaction(async (tx) => {
        await tx.deleteFrom("audit_logs").where("seq", "<=", 5).execute();
        await tx.deleteFrom("audit_heads").where("tenant_id", "=", "acme").execute();
        await writeUnkeyed(tx, "acme", 4);
      });
      expect(await verifyAudit({ store: opened }, "acme")).toMatchObject({ ok: false });
      const again = await open();
      expect(await verifyAudit({ store: again }, "acme")).toMatchObject({ ok: false });
    });

    verifies("C-97", "OP-04");
    it("reports a chain that was rewritten without a key, and never seals it", async () => {
      const opened = await open();
      await append(opened, "acme");
      await opened.transaction(async (tx) => {
        await tx.deleteFrom("audit_logs").where("tenant_id", "=", "acme").execute();
        await tx.deleteFrom("audit_heads").where("tenant_id", "=", "acme").execute();
        await writeUnkeyed(tx, "acme", 7);
      });
      expect(await verifyAudit({ store: await open() }, "acme")).toMatchObject({ ok: false });
    });

    verifies("D-AUD-4");
    it("verifies while retention removes entries before the seal and then the seal", async () => {
      const opened = await open();
      await append(opened, "acme");
      const purge = (before: number) =>
        opened.transaction((tx) => purgeEntries(tx, opened.auditKey, "acme", before));
      expect(await purge(4)).toBe(3);
      expect(await verifyAudit({ store: opened }, "acme")).toMatchObject({ ok: true, entries: 4 });
      expect(await purge(6)).toBe(2);
      expect(await verifyAudit({ store: opened }, "acme")).toMatchObject({ ok: true, entries: 2 });
      expect(await purge(systemClock() + 1)).toBe(2);
      await append(opened, "acme");
      expect(await verifyAudit({ store: opened }, "acme")).toMatchObject({
        ok: true,
        entries: 1,
        sealedTo: 8,
      });
    });

    verifies("RC-20");
    it("has evidence of its entries, of those before the seal too", async () => {
      const opened = await open();
      const { RECEIVABLES_DATA: folder = "" } = database.environment;
      const masterKey = await signingIn(folder).masterKey(true);
      const needs = { store: opened, masterKey, clock: systemClock };
      const path = join(folder, "evidence.jsonl");
      const days = { from: "1970-01-01", to: "2999-12-31" };
      const written = await writeEvidence(needs, "acme", { ...days, path });
      expect(written).toEqual({ tenantId: "acme", entries: 6, heads: 1 });
      const { publicKey } = await showEvidenceKey(needs, { rotate: false });
      expect(checkEvidence(path, publicKey)).toBeNull();
      expect(await verifyEvidence(path, publicKey)).toMatchObject({ ok: true, entries: 6 });
      await opened.transaction((tx) =>
        tx.updateTable("audit_logs").set({ status_code: 404 }).where("seq", "=", 2).execute(),
      );
      await expect(signEvidenceHead(needs, "acme")).rejects.toThrow("old-2");
    });

    verifies("C-97", "OP-04");
    it("opens with the key that signed it, and reports another or a missing key", async () => {
      await open();
      const openWith = (masterKey: (mustExist: boolean) => Promise<Buffer>) => {
        const { RECEIVABLES_DATA: folder = "", DATABASE_URL: url } = database.environment;
        const signing = { masterKey, clock: systemClock, newId: randomId };
        return url === undefined
          ? openSqlite(join(folder, "receivables.db"), signing)
          : openPostgres(url, signing);
      };
      await expect(openWith(async () => Buffer.alloc(32, 3))).rejects.toThrow("another master key");
      const asked: boolean[] = [];
      await expect(
        openWith(async (mustExist) => {
          asked.push(mustExist);
          throw new Error("no master key");
        }),
      ).rejects.toThrow("no master key");
      expect(asked).toEqual([true]);
    });
  });
}
