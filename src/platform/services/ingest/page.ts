import { hash } from "node:crypto";
import { z } from "zod";
import type { Pagination } from "../../../contract/fields.ts";
import type { Seal } from "../../../kit/seal.ts";
import type { Call, Page } from "../../handlers.ts";
import { serializeRowsToBytes } from "../../json-rows.ts";
import type { Db } from "../../store/port.ts";
import { readSnapshot } from "../listing.ts";

const DEFAULT_LIMIT = 100;
const RECORDS_PER_READ = 100;

/** A record's place in a list: its key, and the value by which the list is sorted. */
type Place = { key: string; value: string };

/** Content of a cursor: tenant, filter and sort of the list, and the last record returned. */
const Cursor = z.object({
  tenant: z.string(),
  list: z.string(),
  after: z.object({ key: z.string(), value: z.string() }),
});

type Listed<Row, Item> = {
  query: { limit?: number | undefined; cursor?: string | undefined };
  /** Finds the first places after one, in the order of the list. */
  find(db: Db, range: { after: Place | undefined; most: number }): Promise<Place[]>;
  read(db: Db, keys: string[]): Promise<Row[]>;
  keyOf(row: Row): string;
  toItem(row: Row): Item;
};

type ListPage<Item> = Page<{ data: Item[]; pagination: Pagination }>;

async function* readItems<Row, Item>(
  db: Db,
  { read, keyOf, toItem }: Listed<Row, Item>,
  keys: string[],
): AsyncGenerator<Item> {
  for (let from = 0; from < keys.length; from += RECORDS_PER_READ) {
    const some = keys.slice(from, from + RECORDS_PER_READ);
    const rows = new Map((await read(db, some)).map((row) => [keyOf(row), row]));
    for (const key of some) {
      const row = rows.get(key);
      if (row !== undefined) yield toItem(row);
    }
  }
}

/** Returns a hash that is equal for equal filters and sorts. */
const hashQuery = (sought: object): string => {
  const sorted = Object.entries(sought).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify(sorted), "base64url");
};

/** Reads a page of a list that is sorted by a key; the cursor names the last record of the page. */
export const listRecords = async <Row, Item>(
  call: Call,
  seal: Seal,
  listed: Listed<Row, Item>,
): Promise<ListPage<Item>> => {
  const { tenantId } = call;
  const { limit = DEFAULT_LIMIT, cursor, ...sought } = listed.query;
  const list = hashQuery(sought);
  const at = cursor === undefined ? undefined : Cursor.safeParse(seal.open(cursor)).data;
  if (cursor !== undefined && (at?.tenant !== tenantId || at.list !== list)) {
    return call.refuse("cursor", "format", "is not from this query; omit it to start over");
  }
  return readSnapshot(call, async ({ db }) => {
    const found = await listed.find(db, { after: at?.after, most: limit + 1 });
    const places = found.slice(0, limit);
    const hasMore = found.length > limit;
    const next = { tenant: tenantId, list, after: places.at(-1) };
    const rowCount = places.length;
    const keys = places.map(({ key }) => key);
    return {
      head: {},
      rowCount,
      data: serializeRowsToBytes(readItems(db, listed, keys)),
      pagination: () => ({ cursor: hasMore ? seal.seal(next) : null, hasMore, rowCount }),
    };
  });
};
