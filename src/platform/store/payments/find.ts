import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Source } from "../../../contract/payments/catalogue.ts";
import type { Filter } from "../../../contract/payments/filter.ts";
import { amongKeys } from "../among.ts";
import { isPostgres } from "../copy.ts";
import type { Db } from "../port.ts";
import { TABLES } from "./columns.ts";
import { condition, matches } from "./filter.ts";
import { numbered } from "./rows.ts";

/** The rows of a source that a filter keeps, of those with `after < seq <= upTo`. */
export type Scan = {
  tenantId: string;
  source: Source;
  filter: Filter;
  after: number;
  upTo: number;
};

// SQLite answers while nothing else runs, so it is asked for little at a time.
const SQLITE_SCANNED = 5000;
// Rows that an index found; above this the table is read in its own order instead.
const MOST_INDEXED = 10_000;
const LISTED_AT_ONCE = 1000;
const MOST_AT_ONCE = 10_000;

export function* inSlices(seqs: readonly number[], size: number): Generator<number[]> {
  for (let from = 0; from < seqs.length; from += size) yield seqs.slice(from, from + size);
}

const seqsWhere = async (
  db: Db,
  { tenantId, source }: Scan,
  where: ReturnType<typeof condition>,
  most: number,
  order = sql`order by seq`,
): Promise<number[]> => {
  const text = isPostgres(db)
    ? sql`coalesce(json_agg(seq), '[]'::json)::text`
    : sql`json_group_array(seq)`;
  const { rows } = await sql<{ seqs: string }>`
    select ${text} as seqs from (
      select seq from ${sql.table(TABLES[source])}
      where tenant_id = ${tenantId} and ${where} ${order} limit ${most}) as found`.execute(db);
  return JSON.parse(rows[0]?.seqs ?? "[]") as number[];
};

type Is = Extract<Filter, { as: "is" }>;

const FINDS: readonly Is["operator"][] = [
  "eq",
  "in",
  "startsWith",
  "between",
  "gt",
  "gte",
  "lt",
  "lte",
];

/** Conditions that must hold and that an index answers, the narrowest kinds first. */
const indexed = (filter: Filter): Is[] => {
  if (filter.as === "all") return filter.of.flatMap(indexed).toSorted(byKind);
  const isIndexed = filter.as === "is" && filter.field.indexed && FINDS.includes(filter.operator);
  return isIndexed ? [filter] : [];
};

const byKind = (a: Is, b: Is): number => FINDS.indexOf(a.operator) - FINDS.indexOf(b.operator);

const between = (after: number, upTo: number) => sql<boolean>`seq > ${after} and seq <= ${upTo}`;

/** The few rows that an index finds for one of the conditions; undefined where all of them find many. */
const candidates = async (db: Db, scan: Scan): Promise<number[] | undefined> => {
  for (const one of indexed(scan.filter)) {
    const where = sql<boolean>`${condition(db, one)} and ${between(scan.after, scan.upTo)}`;
    // In the index's own order: sorted there, all of it would be read.
    const unordered = sql``;
    const seqs = await seqsWhere(db, scan, where, MOST_INDEXED + 1, unordered);
    if (seqs.length <= MOST_INDEXED) return seqs.toSorted((a, b) => a - b);
  }
  return undefined;
};

async function* amongCandidates(db: Db, scan: Scan, found: readonly number[]) {
  for (const some of inSlices(found, LISTED_AT_ONCE)) {
    const where = sql<boolean>`${amongKeys(db, "seq", some)} and ${matches(db, scan.filter)}`;
    yield seqsWhere(db, scan, where, some.length);
  }
}

/** Through the table in its own order: a stretch of it at a time, and from that so many at a time. */
async function* inOrder(db: Db, scan: Scan, most: number) {
  const width = isPostgres(db) ? scan.upTo : SQLITE_SCANNED;
  const size = Math.min(most, MOST_AT_ONCE);
  const filter = matches(db, scan.filter);
  for (let { after } = scan; after < scan.upTo;) {
    const upTo = Math.min(scan.upTo, after + width);
    const seqs = await seqsWhere(db, scan, sql`${between(after, upTo)} and ${filter}`, size);
    yield seqs;
    after = seqs.length === size ? (seqs.at(-1) ?? upTo) : upTo;
  }
}

/**
 * What is true of the rows that a filter keeps, in their order and not many at a time. SQLite finds rows as it reads
 * them; PostgreSQL, which is far away, is asked for the numbers of many at once.
 */
export async function* stretches(
  db: Db,
  scan: Scan,
  size: number,
): AsyncGenerator<RawBuilder<boolean>, void, undefined> {
  if (isPostgres(db)) {
    for await (const seqs of findSeqs(db, scan, Infinity)) {
      for (const some of inSlices(seqs, size)) yield numbered(db, some);
    }
    return;
  }
  const few = await candidates(db, scan);
  const filter = matches(db, scan.filter);
  if (few !== undefined) {
    for (const some of inSlices(few, size)) yield sql<boolean>`${numbered(db, some)} and ${filter}`;
    return;
  }
  for (let { after } = scan; after < scan.upTo; after += size) {
    const upTo = Math.min(scan.upTo, after + size);
    yield sql<boolean>`${between(after, upTo)} and ${filter}`;
  }
}

/** The numbers of the rows, in their order, some at a time; `most` is how many are wanted in all. */
export async function* findSeqs(
  db: Db,
  scan: Scan,
  most: number,
): AsyncGenerator<number[], void, undefined> {
  if (scan.after >= scan.upTo) return;
  const few = await candidates(db, scan);
  const found = few === undefined ? inOrder(db, scan, most) : amongCandidates(db, scan, few);
  let left = most;
  for await (const seqs of found) {
    const taken = seqs.slice(0, left);
    left -= taken.length;
    if (taken.length > 0) yield taken;
    if (left <= 0) return;
    await setImmediate();
  }
}
