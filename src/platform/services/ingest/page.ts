import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { Pagination } from "../../../contract/fields.ts";
import type { Seal } from "../../../kit/seal.ts";
import type { Call, Page } from "../../handlers.ts";
import { serializeRowsToBytes } from "../../json-rows.ts";
import type { Db } from "../../store/port.ts";
import { openCursor, readSnapshot } from "../listing.ts";

const DEFAULT_LIMIT = 100;
const RECORDS_PER_READ = 100;
/** Records of a page have so many bytes together at most, unless the first one alone has more. */
export const PAGE_BYTES = 1024 * 1024;
const BYTES_PER_READ = 256 * 1024;

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
  /** Returns the bytes of each record. */
  measure(db: Db, keys: string[]): Promise<ReadonlyMap<string, number>>;
  keyOf(row: Row): string;
  toItem(row: Row): Item;
};

type ListPage<Item> = Page<{ data: Item[]; pagination: Pagination }>;

type Measured = { key: string; bytes: number };

/** Returns the first records that have so many bytes together at most; one at least. */
export const takeBytes = <T extends { bytes: number }>(all: readonly T[], most: number): T[] => {
  let sum = 0;
  const end = all.findIndex(({ bytes }) => (sum += bytes) > most);
  return all.slice(0, end === -1 ? all.length : Math.max(1, end));
};

async function* readItems<Row, Item>(
  db: Db,
  { read, keyOf, toItem }: Listed<Row, Item>,
  keys: readonly Measured[],
): AsyncGenerator<Item> {
  for (let from = 0; from < keys.length;) {
    const some = takeBytes(keys.slice(from, from + RECORDS_PER_READ), BYTES_PER_READ).map(
      ({ key }) => key,
    );
    from += some.length;
    const rows = new Map((await read(db, some)).map((row) => [keyOf(row), row]));
    for (const key of some) {
      const row = rows.get(key);
      if (row !== undefined) yield toItem(row);
      // A large record takes its time; others get their turn before the next one.
      if (some.length === 1) await setImmediate();
    }
  }
}

/** Returns a hash that is equal for equal filters and sorts. */
const hashQuery = (filter: object): string => {
  const sorted = Object.entries(filter).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify(sorted), "base64url");
};

/** Reads a page of a list that is sorted by a key; the cursor names the last record of the page. */
export const listRecords = async <Row, Item>(
  call: Call,
  seal: Seal,
  listed: Listed<Row, Item>,
): Promise<ListPage<Item>> => {
  const { limit = DEFAULT_LIMIT, cursor, ...filter } = listed.query;
  const own = { tenant: call.tenantId, list: hashQuery(filter) };
  const at = openCursor(call, { schema: Cursor, seal, cursor }, own);
  return readSnapshot(call, async ({ db }) => {
    const found = await listed.find(db, { after: at?.after, most: limit + 1 });
    const sizes = await listed.measure(
      db,
      found.slice(0, limit).map(({ key }) => key),
    );
    const measured = found.slice(0, limit).map((place) => {
      return { ...place, bytes: sizes.get(place.key) ?? 0 };
    });
    const taken = takeBytes(measured, PAGE_BYTES);
    const places = taken.map(({ key, value }) => ({ key, value }));
    const hasMore = found.length > places.length;
    const next = { ...own, after: places.at(-1) };
    const rowCount = places.length;
    return {
      head: {},
      rowCount,
      data: serializeRowsToBytes(readItems(db, listed, taken)),
      pagination: () => ({ cursor: hasMore ? seal.seal(next) : null, hasMore, rowCount }),
    };
  });
};
