import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { mapConcurrent } from "../../../kit/map-concurrent.ts";
import { PAYMENT_ID } from "../../../contract/insights/payment-summary.ts";
import { findField, type Source } from "../../../contract/payments/catalogue.ts";
import type { Field } from "../../../contract/payments/field.ts";
import { findColumn, listColumns, setStoredValues, TABLES } from "./payments/columns.ts";
import { findAfterPrefix } from "./payments/filter.ts";
import { findSeqs, hasSeq, sliceSeqs } from "./payments/scan.ts";
import {
  getDialect,
  type PaymentScan,
  type PaymentSelection,
  type RowBytes,
  type Value,
} from "../engine/dialect.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import type { PaymentRow } from "../tables/schema.ts";
import { createUpsert, insertAll } from "../engine/bulk-writes.ts";
import { ofTenant } from "../engine/rows.ts";

/** Whether a tenant has a payment of the source cashapp whose id begins with a prefix. */
export const hasPaymentFrom = async (
  db: Db,
  tenantId: string,
  prefix: string,
): Promise<boolean> => {
  const row = await ofTenant(db, TABLES.cashapp, tenantId)
    .select("seq")
    .where("payment_id", ">=", prefix)
    .where("payment_id", "<", findAfterPrefix(prefix) ?? "")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Returns the highest number of a tenant's rows of a source; 0 if there are none. */
export const findLastSeq = async (db: Db, tenantId: string, source: Source): Promise<number> => {
  const row = await ofTenant(db, "payment_sequences", tenantId)
    .select("last")
    .where("source", "=", source)
    .executeTakeFirst();
  return row?.last ?? 0;
};

/** Finds the numbers of a page's rows, and whether more rows follow. */
export const findPage = async (
  db: Db,
  scan: PaymentScan,
  limit: number,
): Promise<{ seqs: number[]; hasMore: boolean }> => {
  const seqs: number[] = [];
  for await (const some of findSeqs(db, scan, limit + 1)) {
    for (const seq of some) seqs.push(seq);
  }
  return { seqs: seqs.slice(0, limit), hasMore: seqs.length > limit };
};

/** Number of batches read at a time: the thread of a view reads the next ones while one is sent. */
const BATCHES_AT_ONCE = 3;

/** Yields the rows with these numbers in batches, and lets the event loop run between them. */
export async function* readPayments(
  db: Db,
  selection: PaymentSelection,
  seqs: readonly number[],
): AsyncGenerator<RowBytes, void, undefined> {
  const { createRowReader, rowsPerRead } = getDialect(db).payments;
  const read = createRowReader(db, selection);
  const batches = sliceSeqs(seqs, rowsPerRead);
  for await (const rows of mapConcurrent(batches, BATCHES_AT_ONCE, (some) =>
    read(hasSeq(db, some)),
  )) {
    yield rows;
    await setImmediate();
  }
}

/** Reads the rows with these numbers, in this order. */
export const readRowObjects = async (
  db: Db,
  selection: PaymentSelection,
  seqs: readonly number[],
): Promise<Record<string, unknown>[]> => {
  if (seqs.length === 0) return [];
  const inOrder = seqs.toSorted((a, b) => a - b);
  const read = getDialect(db).payments.createRowReader(db, selection);
  const { bytes } = await read(hasSeq(db, inOrder));
  const rows = JSON.parse(`[${Buffer.from(bytes).toString()}]`) as Record<string, unknown>[];
  return seqs.map((seq) => rows[inOrder.indexOf(seq)] ?? {});
};

/** Number of stretches read at a time: two by the threads of a view, and two that wait for one. */
const STRETCHES_AT_ONCE = 4;

/**
 * Yields every row of a scan, in order and in bounded memory; many rows are compressed by the store. The rows are
 * consistent with each other if `db` is a snapshot's and `upTo` is its {@link findLastSeq}.
 */
export async function* streamPayments(
  db: Db,
  scan: PaymentScan,
  fields: readonly Field[],
): AsyncGenerator<RowBytes, void, undefined> {
  const { createRowReader, findStretches } = getDialect(db).payments;
  const read = createRowReader(db, { ...scan, fields, framed: true });
  for await (const rows of mapConcurrent(findStretches(db, scan), STRETCHES_AT_ONCE, read)) {
    if (rows.rowCount > 0) yield rows;
    await setImmediate();
  }
}

/** Reserves `wanted` numbers and returns the first. Other transactions that reserve numbers wait until this one ends. */
export const takeSeqs = async (
  tx: Db,
  tenantId: string,
  source: Source,
  count: number,
): Promise<number> => {
  const { last } = await tx
    .insertInto("payment_sequences")
    .values({ tenant_id: tenantId, source, last: count })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "source"])
        .doUpdateSet({ last: sql`payment_sequences.last + excluded.last` }),
    )
    .returning("last")
    .executeTakeFirstOrThrow();
  return last - count + 1;
};

/** The condition of the rows of payments. */
const isOfPayments = (
  db: Db,
  source: Source,
  paymentIds: readonly string[],
): RawBuilder<unknown> => {
  const field = findField(source, PAYMENT_ID[source]);
  if (field === undefined) return sql`1 = 0`;
  const { name, compared } = findColumn(field);
  const { isAmongKeys } = getDialect(db);
  return sql`${isAmongKeys(compared, paymentIds.map(fold))} and ${isAmongKeys(name, paymentIds)}`;
};

/** The columns of a stored row that an import compares with a row of a file; `facts` by the names of their fields. */
export type KnownPayment = {
  id: string;
  seq: number;
  sent_hash: string;
  created_at: string;
  facts: Readonly<Record<string, string | null>>;
};

type Fact = Omit<KnownPayment, "facts"> & Record<string, Value>;

/** Finds rows by their ids, or all rows of payments by the ids of these, and reads some fields of them. */
export const findKnown = async (
  db: Db,
  tenantId: string,
  source: Source,
  { ids, by, fields }: { ids: readonly string[]; by: "row" | "payment"; fields: readonly string[] },
): Promise<KnownPayment[]> => {
  const columns = fields.flatMap((name): [string, string][] => {
    const field = findField(source, name);
    return field === undefined ? [] : [[name, findColumn(field).name]];
  });
  const selected = ["id", "seq", "sent_hash", "created_at", ...columns.map(([, column]) => column)];
  const list = sql.join([...new Set(selected)].map((column) => sql.ref(column)));
  const among =
    by === "row" ? getDialect(db).isAmongKeys("id", ids) : isOfPayments(db, source, ids);
  const { rows } = await sql<Fact>`
    select ${list} from ${sql.table(TABLES[source])}
    where tenant_id = ${tenantId} and ${among} order by seq`.execute(db);
  return rows.map((row) => {
    const { id, seq, sent_hash, created_at } = row;
    const facts = columns.map(([name, column]) => [name, row[column]?.toString() ?? null]);
    return { id, seq, sent_hash, created_at, facts: Object.fromEntries(facts) };
  });
};

/** Finds the whole rows with these numbers. */
export const findRowsBySeq = async (
  db: Db,
  tenantId: string,
  source: Source,
  seqs: readonly number[],
): Promise<StoredPayment[]> => {
  if (seqs.length === 0) return [];
  const { rows } = await sql<StoredPayment>`
    select * from ${sql.table(TABLES[source])}
    where tenant_id = ${tenantId} and ${getDialect(db).isAmong("seq", seqs)}`.execute(db);
  return rows;
};

/** The record of the match of a row, beside its fields. */
export type Matching = {
  /** The words of the sender in the fields that a match sets, as JSON. */
  said: string;
  /** When the row was applied to its document, as a timestamp; null if it is not. */
  appliedAt: string | null;
  /** The key of the document, or the kind of payment, that the row waits for; null if it waits for nothing. */
  waitingKey: string | null;
};

export type NewPayment = {
  tenantId: string;
  seq: number;
  /** Hash of the row in the last imported file. */
  sentHash: string;
  /** Only of rows of the source cashapp that were matched. */
  matching?: Matching;
  /** By the field names of the catalogue, including `id`, `createdAt` and `updatedAt`. */
  values: Readonly<Record<string, unknown>>;
};

/** Creates a row whose columns are all null. */
const createBlank = (source: Source): Readonly<Record<string, Value>> => {
  const row: Record<string, Value> = {};
  for (const column of listColumns(source)) setStoredValues(row, column, null);
  const matched = source === "cashapp" ? { said: null, applied_at: null, waiting_key: null } : {};
  return { ...row, ...matched, tenant_id: null, seq: null, sent_hash: null };
};

const BLANKS: Readonly<Record<Source, Readonly<Record<string, Value>>>> = {
  cashapp: createBlank("cashapp"),
  iandp: createBlank("iandp"),
  bpn: createBlank("bpn"),
};

const toRow = (source: Source, payment: NewPayment): PaymentRow => {
  const { tenantId, seq, sentHash, values, matching } = payment;
  // A copy of a row without values takes a fraction of the time of setting each column.
  const row: Record<string, Value> = { ...BLANKS[source] };
  for (const column of listColumns(source)) {
    const value = values[column.field.name] ?? null;
    if (value !== null) setStoredValues(row, column, value);
  }
  if (source === "cashapp") {
    row["said"] = matching?.said ?? null;
    row["applied_at"] = matching?.appliedAt ?? null;
    row["waiting_key"] = matching?.waitingKey ?? null;
  }
  row["tenant_id"] = tenantId;
  row["seq"] = seq;
  row["sent_hash"] = sentHash;
  return row as PaymentRow;
};

const upserts = {
  cashapp: createUpsert(TABLES.cashapp, ["tenant_id", "seq"]),
  iandp: createUpsert(TABLES.iandp, ["tenant_id", "seq"]),
  bpn: createUpsert(TABLES.bpn, ["tenant_id", "seq"]),
};

/** Adds rows with numbers from {@link takeSeqs}, and returns them as stored. */
export const addPayments = async (
  tx: Db,
  source: Source,
  rows: readonly NewPayment[],
): Promise<PaymentRow[]> => {
  const stored = rows.map((row) => toRow(source, row));
  await insertAll(tx, TABLES[source], stored);
  return stored;
};

/** Replaces the rows that have the same numbers, and returns them as stored. */
export const replacePayments = async (
  tx: Db,
  source: Source,
  rows: readonly NewPayment[],
): Promise<PaymentRow[]> => {
  const stored = rows.map((row) => toRow(source, row));
  await upserts[source](tx, stored);
  return stored;
};

/** Replaces stored rows that have the same numbers. */
export const putPaymentRows = (
  tx: Db,
  source: Source,
  rows: readonly PaymentRow[],
): Promise<void> => upserts[source](tx, rows);

/** A stored row with all columns. */
export type StoredPayment = PaymentRow;

/** Finds all rows of payments, in the order of their numbers. */
export const findRowsOfPayments = async (
  db: Db,
  tenantId: string,
  source: Source,
  paymentIds: readonly string[],
): Promise<StoredPayment[]> => {
  if (paymentIds.length === 0) return [];
  const { rows } = await sql<StoredPayment>`
    select * from ${sql.table(TABLES[source])}
    where tenant_id = ${tenantId} and ${isOfPayments(db, source, paymentIds)} order by seq`.execute(
    db,
  );
  return rows;
};

/** Removes rows. */
export const removePayments = async (
  tx: Db,
  source: Source,
  tenantId: string,
  seqs: readonly number[],
): Promise<void> => {
  if (seqs.length === 0) return;
  await sql`delete from ${sql.table(TABLES[source])}
    where tenant_id = ${tenantId} and ${getDialect(tx).isAmongKeys("seq", seqs)}`.execute(tx);
};
