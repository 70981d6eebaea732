import type { Compilable } from "kysely";
import type { Call, Listing } from "../handlers.ts";
import type { Db } from "../store/port.ts";

const DEFAULT_PAGE_SIZE = 20;

type Select<Row> = Compilable<Row> & {
  limit(rows: number): { offset(rows: number): { execute(): Promise<Row[]> } };
};

type Source<Row, Out> = {
  count(db: Db): Promise<number>;
  select(db: Db): Select<Row>;
  shape(row: Row): Out;
  /** Undefined: everything, as one stream. */
  page: Listing<Out>["page"] | undefined;
};

/** The page a query asks for: pages are in use as soon as either name is sent. */
export const pageOf = (query: {
  Page?: number | undefined;
  PageSize?: number | undefined;
}): Source<unknown, unknown>["page"] =>
  query.Page === undefined && query.PageSize === undefined
    ? undefined
    : { page: query.Page ?? 1, pageSize: query.PageSize ?? DEFAULT_PAGE_SIZE };

/** The page a lookup's body asks for: without a page size there is one page with all of them. */
export const bodyPageOf = (body: {
  page?: number | undefined;
  pageSize?: number | undefined;
}): Source<unknown, unknown>["page"] =>
  body.pageSize === undefined
    ? undefined
    : { page: body.page ?? 1, pageSize: body.pageSize, inBody: true };

async function* shaped<Row, Out>(
  rows: AsyncIterable<Row>,
  shape: (row: Row) => Out,
): AsyncIterable<Out> {
  for await (const row of rows) yield shape(row);
}

/** A page, or everything from one snapshot in bounded memory. */
export const listing = async <Row, Out>(
  call: Pick<Call, "db" | "snapshot">,
  source: Source<Row, Out>,
): Promise<Listing<Out>> => {
  const { page, shape } = source;
  if (page !== undefined) {
    const total = await source.count(call.db);
    const rows = await source
      .select(call.db)
      .limit(page.pageSize)
      .offset((page.page - 1) * page.pageSize)
      .execute();
    return { total, rows: rows.map(shape), page };
  }
  const snapshot = await call.snapshot();
  try {
    const total = await source.count(snapshot.db);
    const rows = shaped(snapshot.stream(source.select(snapshot.db)), shape);
    return { total, rows, close: () => snapshot.close() };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
};
