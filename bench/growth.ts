import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { randomId } from "../src/kit/ids.ts";
import { insertTenant } from "../src/platform/admin/tenants.ts";
import { appendEntries } from "../src/platform/store/audit/chain.ts";
import { purgeEntries } from "../src/platform/store/audit/purge.ts";
import { getDialect } from "../src/platform/store/engine/dialect.ts";
import { findDueKinds } from "../src/platform/store/queries/jobs.ts";
import { listMigrations } from "../src/platform/store/migrations/migrate.ts";
import type { Db, Store } from "../src/platform/store/port.ts";
import { openPostgres } from "../src/platform/store/postgres/open.ts";
import { createSealing } from "../src/platform/store/audit/signing.ts";
import { insertManyEntries, insertManyPayments } from "../test/support/many-rows.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { signingIn } from "../test/support/signing.ts";
import { openUnmigratedPostgres } from "../test/support/unmigrated.ts";
import { inTurn, wallMs } from "./measure.ts";
import { fillPayments } from "./platform/payment-rows.ts";
import { readCpuMsOf } from "./process.ts";

// Measures the constants of docs/scale.md: node bench/growth.ts [PAYMENT ROWS]. Linux only.
const ROWS = Number(process.argv[2] ?? 200_000);
const BEFORE_PARTITIONS = "0018-versions";

const folder = mkdtempSync(join(tmpdir(), "receivables-growth-"));
const print = (name: string, figures: object): void => {
  process.stdout.write(`${JSON.stringify({ name, ...figures })}\n`);
};

/** The processor time of the server's processes for this database, in milliseconds. */
const serverMs = async (db: Db): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database()`.execute(db);
  return rows.reduce((sum, { pid }) => sum + readCpuMsOf(pid), 0);
};

/** Prints the processor time of an action per item, in microseconds, here and in the server. */
const measure = async (db: Db, name: string, count: number, act: () => Promise<unknown>) => {
  const own = process.cpuUsage();
  const server = await serverMs(db);
  const wall = await wallMs(act);
  const { user, system } = process.cpuUsage(own);
  print(name, {
    count,
    nodeMicros: Math.round((user + system) / count),
    serverMicros: Math.round((((await serverMs(db)) - server) * 1000) / count),
    wallSeconds: Number((wall / 1000).toFixed(1)),
  });
};

const printSizes = async (db: Db, table: "cashapp_payments" | "audit_logs"): Promise<void> => {
  const { rows } = await sql<{ heap: number; indexes: number; count: number }>`
    select sum(pg_table_size(relid))::float8 as heap, sum(pg_indexes_size(relid))::float8 as indexes,
      (select count(*)::float8 from ${sql.table(table)}) as count
    from pg_partition_tree(${table}) where isleaf`.execute(db);
  for (const { heap, indexes, count } of rows) {
    const perRow = (bytes: number): number => Math.round(bytes / count);
    print(`bytes per row of ${table}`, { count, heap: perRow(heap), indexes: perRow(indexes) });
  }
};

/** Fills the schema from before partitions, and measures the step that divides the tables. */
const measureDivision = async (url: string): Promise<void> => {
  const { dialect, types } = openUnmigratedPostgres(url);
  const db = new Kysely({ dialect }) as unknown as Db;
  const migrations = listMigrations(types, createSealing(signingIn(folder)));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  await migrator.migrateTo(BEFORE_PARTITIONS);
  await insertManyPayments(db, ROWS);
  await insertManyEntries(db, 2 * ROWS, Date.UTC(2025, 10));
  await measure(db, "division of payments, with twice as many audit entries", ROWS, async () => {
    const { error } = await migrator.migrateTo("0019-partitions");
    if (error !== undefined) throw error as Error;
  });
  await printSizes(db, "cashapp_payments");
  await printSizes(db, "audit_logs");
  await db.destroy();
};

const entryOf = (tenantId: string) => ({
  tenantId,
  id: randomId(),
  at: Date.now(),
  method: "POST",
  endpoint: "/payments/query",
  action: "payments.queried",
  statusCode: 200,
  metadata: { actor: randomId(), resourceId: randomId(), rowCount: 20 },
});

const appendMany = async (store: Store, count: number, atOnce: number): Promise<void> => {
  for (let done = 0; done < count; done += atOnce) {
    const entries = Array.from({ length: atOnce }, () => entryOf("grown"));
    await store.transaction((tx) => appendEntries(tx, store.auditKey, entries));
  }
};

const purgeAll = async (store: Store): Promise<void> => {
  const purge = () =>
    store.transaction((tx) => purgeEntries(tx, store.auditKey, "grown", Date.now() + 1));
  while ((await purge()) > 0);
};

const KINDS = ["scan", "schedule", "run", "delivery", "sweep"];

const measureWrites = async (store: Store): Promise<void> => {
  const { read: db } = store;
  const needs = { clock: Date.now, newId: randomId, store };
  await store.transaction((tx) => insertTenant(tx, needs, { tenantId: "grown", name: "Grown" }));
  await fillPayments(store, "grown", 10_000);
  await measure(db, "payment row", 100_000, () => fillPayments(store, "grown", 100_000));
  await printSizes(db, "cashapp_payments");
  await appendMany(store, 4000, 20);
  await measure(db, "audit entry alone", 2000, () => appendMany(store, 2000, 1));
  await measure(db, "audit entry of a batch of 20", 20_000, () => appendMany(store, 20_000, 20));
  await measure(db, "removed audit entry", 26_000, () => purgeAll(store));
  const poll = () => findDueKinds(db, KINDS, Date.now());
  await measure(db, "poll for jobs", 500, () => inTurn(500, poll));
  const prepare = () =>
    store.transaction((tx) => getDialect(tx).partitions.prepareMonths(tx, Date.now()));
  await measure(db, "check of months", 100, () => inTurn(100, prepare));
};

const server = await startPostgres();
try {
  const urlOf = (name: string): string => new URL(name, server.url).href;
  const admin = await openPostgres(server.url, signingIn(folder));
  for (const name of ["divided", "written"]) {
    await sql`create database ${sql.table(name)}`.execute(admin.read);
  }
  await admin.close();
  await measureDivision(urlOf("divided"));
  const store = await openPostgres(urlOf("written"), signingIn(folder));
  await measureWrites(store);
  await store.close();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
