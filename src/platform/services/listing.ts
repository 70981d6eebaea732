import type { Compilable, Expression } from "kysely";
import type { z } from "zod";
import type { Seal } from "../../kit/seal.ts";
import type { Call, Listing } from "../handlers.ts";
import { countRows, type ListCost, SHORT_READ_ROWS } from "../store/queries/list-cost.ts";
import type { Db, Snapshot } from "../store/port.ts";

const DEFAULT_PAGE_SIZE = 20;

type Select<Row> = Compilable<Row> &
  Expression<unknown> & {
    limit(rows: number): {
      offset(rows: number): Compilable<Row> & { execute(): Promise<Row[]> };
    };
  };

type Source<Row, Out> = {
  count(db: Db): Promise<number>;
  select(db: Db): Select<Row>;
  cost: ListCost;
  shape(row: Row): Out;
  /** Undefined: all rows, as one stream. */
  page: Listing<Out>["page"] | undefined;
};

/** Returns the page that a query asks for; undefined where it has neither Page nor PageSize. */
export const parsePage = (query: {
  Page?: number | undefined;
  PageSize?: number | undefined;
}): Source<unknown, unknown>["page"] =>
  query.Page === undefined && query.PageSize === undefined
    ? undefined
    : { page: query.Page ?? 1, pageSize: query.PageSize ?? DEFAULT_PAGE_SIZE };

/** Returns the page that a lookup's body asks for; undefined, meaning all rows, where it has no page size. */
export const parseBodyPage = (body: {
  page?: number | undefined;
  pageSize?: number | undefined;
}): Source<unknown, unknown>["page"] =>
  body.pageSize === undefined
    ? undefined
    : { page: body.page ?? 1, pageSize: body.pageSize, inBody: true };

/** Opens a cursor, whose members must be those of its query; undefined where none was sent. */
export const openCursor = <S extends z.ZodObject>(
  call: Pick<Call, "refuse">,
  { schema, seal, cursor }: { schema: S; seal: Seal; cursor: string | undefined },
  own: Partial<z.output<S>>,
): z.output<S> | undefined => {
  if (cursor === undefined) return undefined;
  const { data } = schema.safeParse(seal.open(cursor));
  const isOwn = Object.entries(own).every(([name, value]) => data?.[name] === value);
  if (data !== undefined && isOwn) return data;
  return call.refuse("cursor", "format", "is not from this query; omit it to start over");
};

async function* mapRows<Row, Out>(
  rows: AsyncIterable<Row>,
  shape: (row: Row) => Out,
): AsyncIterable<Out> {
  for await (const row of rows) yield shape(row);
}

/** Reads a list of at most {@link SHORT_READ_ROWS} rows with one query; undefined if it is longer. */
const readShort = async <Row, Out>(
  db: Db,
  { count, select, shape, page, cost }: Source<Row, Out>,
): Promise<Listing<Out> | undefined> => {
  if (cost === "scanned") return undefined;
  const total = await count(db);
  // Planning a query of many tables takes longer than counting.
  if (total === 0) return { total, rows: [], ...(page === undefined ? {} : { page }) };
  if (page === undefined) {
    if (total > SHORT_READ_ROWS) return undefined;
    const rows = await select(db)
      .limit(SHORT_READ_ROWS + 1)
      .offset(0)
      .execute();
    return rows.length > SHORT_READ_ROWS
      ? undefined
      : { total: rows.length, rows: rows.map(shape) };
  }
  const end = page.page * page.pageSize;
  if ((cost === "indexed" ? Math.min(total, end) : total) > SHORT_READ_ROWS) return undefined;
  const rows = await select(db)
    .limit(page.pageSize)
    .offset(end - page.pageSize)
    .execute();
  return { total, rows: rows.map(shape), page };
};

/** Reads from a snapshot that the result keeps open until its `close`. */
export const readSnapshot = async <Result extends object>(
  call: Pick<Call, "snapshot">,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result & { close(): Promise<void> }> => {
  const snapshot = await call.snapshot();
  try {
    return { ...(await read(snapshot)), close: () => snapshot.close() };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
};

/** Reads a page or all rows; long reads stream from one snapshot in bounded memory. */
export const readListing = async <Row, Out>(
  call: Pick<Call, "db" | "snapshot">,
  source: Source<Row, Out>,
): Promise<Listing<Out>> => {
  const short = await readShort(call.db, source);
  if (short !== undefined) return short;
  const { page, shape } = source;
  return readSnapshot(call, async ({ db, stream }) => {
    const total = await source.count(db);
    const all = source.select(db);
    const query =
      page === undefined ? all : all.limit(page.pageSize).offset((page.page - 1) * page.pageSize);
    const rows = mapRows(stream(query), shape);
    return { total, rows, ...(page === undefined ? {} : { page }) };
  });
};

/** Reads all rows of a query in its order; a long list streams from a snapshot. */
export const readAll = async <Row, Out>(
  call: Pick<Call, "db" | "snapshot">,
  select: (db: Db) => Select<Row>,
  shape: (row: Row) => Out,
): Promise<Out[] | Listing<Out>> => {
  const rows = await select(call.db)
    .limit(SHORT_READ_ROWS + 1)
    .offset(0)
    .execute();
  if (rows.length <= SHORT_READ_ROWS) return rows.map(shape);
  const count = (db: Db) => countRows(db, select(db));
  return readListing(call, { count, select, cost: "scanned", shape, page: undefined });
};
