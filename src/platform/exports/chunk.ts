import { hash } from "node:crypto";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { ROW_SEPARATOR, type RowBytes } from "../store/engine/dialect.ts";

/** Least number of rows that are joined to a chunk, except before rows that the store compressed, and at the end. */
export const CHUNK_ROWS = 10_000;

const BETWEEN = Buffer.from(ROW_SEPARATOR);
const LINE_FEED = 0x0a;

const decompress = promisify(zstdDecompress);

// Large enough for nearly every chunk: joining the small pieces of the default costs more than decompression.
const ROWS = { chunkSize: 8 * 1024 ** 2 };

/** The bytes of a chunk's file differ from those that were written. */
export class CorruptChunk extends Error {
  constructor(key: string, what: string) {
    super(`the file ${key} of a snapshot ${what}`);
    this.name = "CorruptChunk";
  }
}

type Written = { key: string; size: number; sha256: string };

/** Decompresses a chunk after comparing its file with the recorded hash. @throws {CorruptChunk} */
export const decompressRows = async (bytes: Buffer, { key, size, sha256 }: Written) => {
  if (bytes.byteLength !== size) throw new CorruptChunk(key, `has ${bytes.byteLength} bytes`);
  if (hash("sha256", bytes, "hex") !== sha256) {
    throw new CorruptChunk(key, "has other bytes than were written");
  }
  return decompress(bytes, ROWS);
};

/** Returns the offset of a row, or the end if there is no such row. */
const findStart = (rows: Buffer, number: number): number => {
  let at = 0;
  for (let row = 0; row < number; row += 1) {
    at = rows.indexOf(LINE_FEED, at) + 1;
    if (at === 0) return rows.length + BETWEEN.length;
  }
  return at;
};

/** Returns a range of a chunk's rows, without the separators before and after them. */
export const sliceRows = (rows: Buffer, from: number, to: number): Buffer => {
  const start = findStart(rows, from);
  const end = start + findStart(rows.subarray(start), to - from) - BETWEEN.length;
  return rows.subarray(start, end);
};

const join = (some: readonly RowBytes[]): RowBytes => ({
  bytes: Buffer.concat(
    some.flatMap(({ bytes }, place) => (place === 0 ? [bytes] : [BETWEEN, bytes])),
  ),
  rowCount: some.reduce((sum, { rowCount }) => sum + rowCount, 0),
});

/**
 * Regroups rows into chunks: frames as they are, and other rows joined to at least `size`, except before a frame and at
 * the end.
 */
export async function* regroupRows(
  rows: AsyncIterable<RowBytes>,
  size = CHUNK_ROWS,
): AsyncGenerator<RowBytes> {
  let joined: RowBytes[] = [];
  let count = 0;
  for await (const some of rows) {
    if (some.isFrame !== true) {
      joined.push(some);
      count += some.rowCount;
      if (count < size) continue;
    }
    if (count > 0) yield join(joined);
    joined = [];
    count = 0;
    if (some.isFrame === true) yield some;
  }
  if (count > 0) yield join(joined);
}
