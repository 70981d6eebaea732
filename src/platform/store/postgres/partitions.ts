import { sql } from "kysely";
import { SOURCES } from "../../../contract/payments/catalogue.ts";
import type { Partitions } from "../engine/dialect.ts";
import { TABLES } from "../queries/payments/columns.ts";
import type { Db } from "../port.ts";

/** Parts of a table by the hash of the tenant. A power of two, so that each part can be split into two later. */
const PARTS = 8;

/** Months of the audit log that are created before they begin. */
const MONTHS_AHEAD = 2;

/** Everything that uses the audit log waits this long at most while a month is attached or removed. */
const LOCK_MS = 200;

const AUDIT = "audit_logs";
const REST = `${AUDIT}_rest`;
const MONTH = /^audit_logs_(before_)?(\d{4})_(\d{2})$/;

const startOfMonth = (at: number, more = 0): number => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more);
};

const formatMonth = (start: number): string =>
  new Date(start).toISOString().slice(0, 7).replace("-", "_");

const lock = (db: Db, table: string) =>
  sql`lock table ${sql.table(table)} in access exclusive mode`.execute(db);

/** Creates the parts of a table that is partitioned by the hash of the tenant. */
const createParts = async (db: Db, table: string, key?: RawKey): Promise<void> => {
  for (let part = 0; part < PARTS; part += 1) {
    await sql`create table ${sql.table(`${table}_${part}`)} partition of ${sql.table(table)}
      ${key ?? sql``} for values with (modulus ${sql.lit(PARTS)}, remainder ${sql.lit(part)})`.execute(
      db,
    );
  }
};

const KEY = sql`(primary key (tenant_id, seq))`;
type RawKey = typeof KEY;

/** Returns the statements that create a table's indexes, without its primary key, and their names. */
const readIndexes = async (db: Db, table: string) => {
  const { rows } = await sql<{ name: string; statement: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement
    from pg_index where indrelid = ${table}::regclass and not indisprimary order by 1`.execute(db);
  return rows;
};

const createIndexes = async (db: Db, indexes: Awaited<ReturnType<typeof readIndexes>>) => {
  for (const { statement } of indexes) await sql.raw(statement).execute(db);
};

/** Divides a table by the hash of the tenant. Its rows are copied, and the indexes are created after them. */
const divideByTenant = async (db: Db, table: string): Promise<void> => {
  const former = `${table}_undivided`;
  await lock(db, table);
  const indexes = await readIndexes(db, table);
  await sql`alter table ${sql.table(table)} rename to ${sql.table(former)}`.execute(db);
  await sql`create table ${sql.table(table)} (like ${sql.table(former)}) partition by hash (tenant_id)`.execute(
    db,
  );
  await createParts(db, table);
  await sql`insert into ${sql.table(table)} select * from ${sql.table(former)}`.execute(db);
  await sql`drop table ${sql.table(former)}`.execute(db);
  await sql`alter table ${sql.table(table)}
    add constraint ${sql.ref(`${table}_key`)} primary key (tenant_id, seq)`.execute(db);
  await createIndexes(db, indexes);
  await sql`analyze ${sql.table(table)}`.execute(db);
};

/**
 * Divides the audit log by month. The present table, with its rows and indexes, becomes the part of all months up to
 * its last entry's, so no row is copied. A part has the primary key for itself: a key of the whole would have to
 * contain the time.
 */
const divideAudit = async (db: Db, now: number): Promise<void> => {
  await lock(db, AUDIT);
  const { last } = await db
    .selectFrom(AUDIT)
    .select((of) => of.fn.max<number | string | null>("at").as("last"))
    .executeTakeFirstOrThrow();
  const end = last === null ? startOfMonth(now) : startOfMonth(Number(last), 1);
  const former = `${AUDIT}_before_${formatMonth(end)}`;
  const indexes = await readIndexes(db, AUDIT);
  for (const name of [...indexes.map((index) => index.name), `${AUDIT}_key`]) {
    const own = sql.ref(name.replace(AUDIT, former));
    await sql`alter index ${sql.ref(name)} rename to ${own}`.execute(db);
  }
  await sql`alter table ${sql.table(AUDIT)} rename to ${sql.table(former)}`.execute(db);
  await sql`create table ${sql.table(AUDIT)} (like ${sql.table(former)}) partition by range (at)`.execute(
    db,
  );
  await createIndexes(db, indexes);
  await sql`alter table ${sql.table(AUDIT)} attach partition ${sql.table(former)}
    for values from (minvalue) to (${sql.lit(end)})`.execute(db);
  await sql`create table ${sql.table(REST)} partition of ${sql.table(AUDIT)} ${KEY} default`.execute(
    db,
  );
};

/** Divides tables' keys so that the tenant leads them. */
const leadWithTenant = async (db: Db, table: string): Promise<void> => {
  const key = sql.ref(`${table}_key`);
  await sql`alter table ${sql.table(table)} drop constraint ${key},
    add constraint ${key} primary key (tenant_id, id)`.execute(db);
};

type Month = { name: string; isFirst: boolean; start: number };

const listMonths = async (db: Db): Promise<Month[]> => {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = ${AUDIT}::regclass order by 1`.execute(db);
  return rows.flatMap(({ name }) => {
    const [, first, year, month] = MONTH.exec(name) ?? [];
    if (year === undefined || month === undefined) return [];
    return [{ name, isFirst: first !== undefined, start: Date.parse(`${year}-${month}-01`) }];
  });
};

/** Creates the part of a month, and moves entries of that month that came too early for it. */
const createMonth = async (db: Db, start: number): Promise<void> => {
  const name = `${AUDIT}_${formatMonth(start)}`;
  const [month, end] = [sql.table(name), startOfMonth(start, 1)];
  await sql`create table ${month} (like ${sql.table(AUDIT)} including indexes)
    partition by hash (tenant_id)`.execute(db);
  await createParts(db, name, KEY);
  await lock(db, REST);
  await sql`with moved as (
      delete from ${sql.table(REST)} where at >= ${start} and at < ${end} returning *
    ) insert into ${month} select * from moved`.execute(db);
  await sql`alter table ${sql.table(AUDIT)} attach partition ${month}
    for values from (${sql.lit(start)}) to (${sql.lit(end)})`.execute(db);
};

const isEmpty = async (db: Db, table: string): Promise<boolean> => {
  const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
  return rows.length === 0;
};

/** Removes the part of a month that retention has emptied. */
const removeMonth = async (db: Db, name: string): Promise<void> => {
  if (!(await isEmpty(db, name))) return;
  await lock(db, AUDIT);
  if (await isEmpty(db, name)) await sql`drop table ${sql.table(name)}`.execute(db);
};

const updateMonths = async (db: Db, now: number): Promise<void> => {
  const months = await listMonths(db);
  for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1) {
    const start = startOfMonth(now, ahead);
    const isCovered = months.some((month) =>
      month.isFirst ? start < month.start : start === month.start,
    );
    if (!isCovered) await createMonth(db, start);
  }
  const ended = months.filter(({ isFirst, start }) => !isFirst && start < startOfMonth(now));
  for (const { name } of ended) await removeMonth(db, name);
};

export const partitions: Partitions = {
  async divide(db, now) {
    for (const source of SOURCES) await divideByTenant(db, TABLES[source]);
    for (const table of ["webhook_deliveries", "webhook_attempts"]) await leadWithTenant(db, table);
    await divideAudit(db, now);
    await updateMonths(db, now);
  },
  async prepareMonths(tx, now) {
    await sql`set local lock_timeout = ${sql.lit(LOCK_MS)}`.execute(tx);
    await updateMonths(tx, now);
  },
};
