import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Filter } from "../../../../contract/payments/filter.ts";
import { getDialect, type PaymentScan } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";
import { findDistinct } from "../distinct-values.ts";
import { findColumn, TABLES } from "./columns.ts";
import { toCondition, matches } from "./filter.ts";

// If an index finds more rows than this, the table is read in the order of `seq` instead.
const MOST_INDEXED = 10_000;
const LISTED_AT_ONCE = 1000;
const MOST_AT_ONCE = 10_000;

/** Splits numbers of rows into slices of a size. */
export function* sliceSeqs(seqs: readonly number[], size: number): Generator<number[]> {
  for (let from = 0; from < seqs.length; from += size) yield seqs.slice(from, from + size);
}

const selectSeqs = async (
  db: Db,
  { tenantId, source }: PaymentScan,
  where: ReturnType<typeof toCondition>,
  most: number,
  order = sql`order by seq`,
): Promise<number[]> => {
  const text = getDialect(db).aggregateJson("seq");
  const { rows } = await sql<{ seqs: string }>`
    select ${text} as seqs from (
      select seq from ${sql.table(TABLES[source])}
      where tenant_id = ${tenantId} and ${where} ${order} limit ${most}) as found`.execute(db);
  return JSON.parse(rows[0]?.seqs ?? "[]") as number[];
};

type Is = Extract<Filter, { as: "is" }>;

const INDEXED_OPERATORS: readonly Is["operator"][] = [
  "eq",
  "in",
  "startsWith",
  "between",
  "gt",
  "gte",
  "lt",
  "lte",
  "contains",
  "endsWith",
];

/** Returns the required conditions that an index can answer, those that usually match fewest rows first. */
const findIndexed = (filter: Filter): Is[] => {
  if (filter.as === "all") return filter.of.flatMap(findIndexed).toSorted(compareOperators);
  const isIndexed =
    filter.as === "is" && filter.field.indexed && INDEXED_OPERATORS.includes(filter.operator);
  return isIndexed ? [filter] : [];
};

const compareOperators = (a: Is, b: Is): number =>
  INDEXED_OPERATORS.indexOf(a.operator) - INDEXED_OPERATORS.indexOf(b.operator);

export const isBetween = (after: number, upTo: number): RawBuilder<boolean> =>
  sql<boolean>`seq > ${after} and seq <= ${upTo}`;

/** Returns the condition in a form that its index answers: parts of names are turned into whole ones, if these are few. */
const toIndexed = async (db: Db, { tenantId, source }: PaymentScan, condition: Is) => {
  const { field, operator } = condition;
  const holds = toCondition(db, condition);
  if (operator !== "contains" && operator !== "endsWith") return holds;
  const { compared } = findColumn(field);
  const indexed = { table: TABLES[source], column: compared, tenantId };
  const values = await findDistinct(db, indexed, holds);
  return values && getDialect(db).isAmong(compared, values);
};

/** Finds rows by the index of one condition; undefined if every index finds more than MOST_INDEXED. */
export const findCandidates = async (db: Db, scan: PaymentScan): Promise<number[] | undefined> => {
  for (const one of findIndexed(scan.filter)) {
    // Tries the next index only if this one finds too many.
    const indexed = await toIndexed(db, scan, one);
    if (indexed === undefined) continue;
    const where = sql<boolean>`${indexed} and ${isBetween(scan.after, scan.upTo)}`;
    // Unordered: sorting by seq would read all rows that the index finds.
    const unordered = sql``;
    const seqs = await selectSeqs(db, scan, where, MOST_INDEXED + 1, unordered);
    if (seqs.length <= MOST_INDEXED) return seqs.toSorted((a, b) => a - b);
  }
  return undefined;
};

async function* filterCandidates(db: Db, scan: PaymentScan, found: readonly number[]) {
  for (const some of sliceSeqs(found, LISTED_AT_ONCE)) {
    const where = sql<boolean>`${getDialect(db).isAmongKeys("seq", some)} and ${matches(db, scan.filter)}`;
    yield selectSeqs(db, scan, where, some.length);
  }
}

/** Reads the table in the order of `seq`, a range at a time. */
async function* scanInOrder(db: Db, scan: PaymentScan, most: number) {
  const width = Math.min(scan.upTo, getDialect(db).payments.seqsPerScan);
  const size = Math.min(most, MOST_AT_ONCE);
  const filter = matches(db, scan.filter);
  for (let { after } = scan; after < scan.upTo;) {
    const upTo = Math.min(scan.upTo, after + width);
    const seqs = await selectSeqs(db, scan, sql`${isBetween(after, upTo)} and ${filter}`, size);
    yield seqs;
    after = seqs.length === size ? (seqs.at(-1) ?? upTo) : upTo;
  }
}

/** The row's number is one of `seqs`, which are sorted; numbers without a gap become a range. */
export const hasSeq = (db: Db, seqs: readonly number[]): RawBuilder<boolean> => {
  const [first] = seqs;
  const last = seqs.at(-1);
  if (first === undefined || last === undefined) return sql`1 = 0`;
  return last - first === seqs.length - 1
    ? sql`seq >= ${first} and seq <= ${last}`
    : getDialect(db).isAmongKeys("seq", seqs);
};

/** Yields the first `most` numbers of the rows of a scan in ascending order, in batches. */
export async function* findSeqs(
  db: Db,
  scan: PaymentScan,
  most: number,
): AsyncGenerator<number[], void, undefined> {
  if (scan.after >= scan.upTo) return;
  const few = await findCandidates(db, scan);
  const found = few === undefined ? scanInOrder(db, scan, most) : filterCandidates(db, scan, few);
  let left = most;
  for await (const seqs of found) {
    const taken = seqs.slice(0, left);
    left -= taken.length;
    if (taken.length > 0) yield taken;
    if (left <= 0) return;
    await setImmediate();
  }
}
