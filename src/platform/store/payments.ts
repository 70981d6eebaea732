import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { CATALOGUE, type Source } from "../../contract/payments/catalogue.ts";
import type { Field } from "../../contract/payments/field.ts";
import { columnsOf, storedValue, TABLES, type Value } from "./payments/columns.ts";
import { findSeqs, inSlices, type Scan, stretches } from "./payments/find.ts";
import { numbered, type RowBytes, rowReader, type Wanted } from "./payments/rows.ts";
import { amongKeys } from "./among.ts";
import { isPostgres } from "./copy.ts";
import type { Db } from "./port.ts";
import type { PaymentRow } from "./tables.ts";
import { inserting, upserting } from "./upsert.ts";

/** The highest number that a source's rows of a tenant have; 0 before the first one. */
export const lastSeq = async (db: Db, tenantId: string, source: Source): Promise<number> => {
  const row = await db
    .selectFrom("payment_sequences")
    .select("last")
    .where("tenant_id", "=", tenantId)
    .where("source", "=", source)
    .executeTakeFirst();
  return row?.last ?? 0;
};

/** Which rows a page has: their numbers, and whether more follow. */
export const findPage = async (
  db: Db,
  scan: Scan,
  limit: number,
): Promise<{ seqs: number[]; hasMore: boolean }> => {
  const seqs: number[] = [];
  for await (const some of findSeqs(db, scan, limit + 1)) {
    for (const seq of some) seqs.push(seq);
  }
  return { seqs: seqs.slice(0, limit), hasMore: seqs.length > limit };
};

// SQLite answers while nothing else runs; PostgreSQL is far away, so it is asked for more.
const rowsAtOnce = (db: Db): number => (isPostgres(db) ? 2000 : 500);

/** The rows of these numbers, some at a time, each time with the other work of the process between. */
export async function* readPayments(
  db: Db,
  wanted: Wanted,
  seqs: readonly number[],
): AsyncGenerator<RowBytes, void, undefined> {
  const read = rowReader(db, wanted);
  for (const some of inSlices(seqs, rowsAtOnce(db))) {
    yield read(numbered(db, some));
    await setImmediate();
  }
}

/**
 * Every row that a filter keeps, in order and in bounded memory. Of one instant where `db` is a snapshot's
 * and `upTo` its {@link lastSeq}.
 */
export async function* streamPayments(
  db: Db,
  scan: Scan,
  fields: readonly Field[],
): AsyncGenerator<RowBytes, void, undefined> {
  const read = rowReader(db, { ...scan, fields });
  for await (const where of stretches(db, scan, rowsAtOnce(db))) {
    const rows = await read(where);
    if (rows.rowCount > 0) yield rows;
    await setImmediate();
  }
}

/** The first of as many new numbers as are wanted; whoever takes them keeps others waiting until it commits. */
export const takeSeqs = async (
  tx: Db,
  tenantId: string,
  source: Source,
  wanted: number,
): Promise<number> => {
  const { last } = await tx
    .insertInto("payment_sequences")
    .values({ tenant_id: tenantId, source, last: wanted })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "source"])
        .doUpdateSet({ last: sql`payment_sequences.last + excluded.last` }),
    )
    .returning("last")
    .executeTakeFirstOrThrow();
  return last - wanted + 1;
};

/** What is known of a row that a file may speak of again. */
export type KnownPayment = { id: string; seq: number; sent_hash: string; created_at: string };

export const findKnown = async (
  db: Db,
  tenantId: string,
  source: Source,
  ids: readonly string[],
): Promise<KnownPayment[]> => {
  const { rows } = await sql<KnownPayment>`
    select id, seq, sent_hash, created_at from ${sql.table(TABLES[source])}
    where tenant_id = ${tenantId} and ${amongKeys(db, "id", ids)}`.execute(db);
  return rows;
};

export type NewPayment = {
  tenantId: string;
  seq: number;
  /** Of what the file last said of it. */
  sentHash: string;
  /** By the names of the catalogue; `id`, `createdAt` and `updatedAt` among them. */
  values: Readonly<Record<string, unknown>>;
};

const rowOf = (source: Source, { tenantId, seq, sentHash, values }: NewPayment): PaymentRow => {
  const row: Record<string, Value> = {};
  for (const column of columnsOf(source)) {
    for (const [name, value] of storedValue(column, values[column.field.name])) row[name] = value;
  }
  return { ...row, tenant_id: tenantId, seq, sent_hash: sentHash } as PaymentRow;
};

const KEY = ["tenant_id", "seq"];

const writersTo = (source: Source) => {
  const values = Object.fromEntries(CATALOGUE[source].fields.map(({ name }) => [name, null]));
  const blank = rowOf(source, { tenantId: "", seq: 0, sentHash: "", values });
  const columns = Object.fromEntries(
    Object.keys(blank).map((name) => [name, KEY.includes(name) ? "key" : "value"] as const),
  );
  const table = TABLES[source];
  return { insert: inserting(table, columns), replace: upserting(table, columns) };
};

const writers = {
  cashapp: writersTo("cashapp"),
  iandp: writersTo("iandp"),
  bpn: writersTo("bpn"),
};

/** Adds rows whose numbers were taken for them. */
export const addPayments = (tx: Db, source: Source, rows: readonly NewPayment[]): Promise<void> =>
  writers[source].insert(
    tx,
    rows.map((row) => rowOf(source, row)),
  );

/** Replaces rows by their numbers, which they keep. */
export const replacePayments = (
  tx: Db,
  source: Source,
  rows: readonly NewPayment[],
): Promise<void> =>
  writers[source].replace(
    tx,
    rows.map((row) => rowOf(source, row)),
  );
