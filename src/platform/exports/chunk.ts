import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { ROW_SEPARATOR, type RowBytes } from "../store/dialect.ts";

/** How many rows a snapshot's chunk has, the last one excepted. */
export const CHUNK_ROWS = 10_000;

const BETWEEN = Buffer.from(ROW_SEPARATOR);
const LEVEL = 3;
const LINE_FEED = 0x0a;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

// Large enough for nearly every chunk's rows, and for its frame: the pieces of the default are so small that joining
// them costs more than the work.
const ROWS = { chunkSize: 8 * 1024 ** 2 };
const FRAME = {
  chunkSize: 1024 ** 2,
  params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
};

/** Rows as one frame. */
export const compressed = (rows: Uint8Array): Promise<Buffer> => compress(rows, FRAME);

/** Rows that follow one another, with nothing between the parts yet. */
export type RowParts = { parts: readonly Uint8Array[]; rowCount: number };

const lengthOf = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { length }) => sum + length, BETWEEN.length * (parts.length - 1));

const fill = (room: Buffer, parts: readonly Uint8Array[]): void => {
  let at = 0;
  for (const part of parts) {
    if (at > 0) at += BETWEEN.copy(room, at);
    room.set(part, at);
    at += part.length;
  }
};

/** Makes frames of parts. Its memory is used again: the system gives new memory more slowly than it is filled. */
export const createCompressor = () => {
  const spare: Buffer[] = [];
  return async (parts: readonly Uint8Array[]): Promise<Buffer> => {
    const length = lengthOf(parts);
    let room = spare.pop();
    if (room === undefined || room.length < length) room = Buffer.allocUnsafeSlow(length);
    fill(room, parts);
    const frame = await compressed(room.subarray(0, length));
    spare.push(room);
    return frame;
  };
};

/** The bytes of a chunk's file are not those that were written. */
export class CorruptChunk extends Error {
  constructor(key: string, what: string) {
    super(`the file ${key} of a snapshot ${what}`);
    this.name = "CorruptChunk";
  }
}

type Written = { key: string; size: number; sha256: string };

/** The rows of a chunk from its file's bytes, once these are known to be what was written. */
export const decompressed = async (bytes: Buffer, { key, size, sha256 }: Written) => {
  if (bytes.byteLength !== size) throw new CorruptChunk(key, `has ${bytes.byteLength} bytes`);
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw new CorruptChunk(key, "has other bytes than were written");
  }
  return decompress(bytes, ROWS);
};

/** Where the row of a number begins; its end where it has no such row. */
const startOf = (rows: Buffer, number: number): number => {
  let at = 0;
  for (let row = 0; row < number; row += 1) {
    at = rows.indexOf(LINE_FEED, at) + 1;
    if (at === 0) return rows.length + BETWEEN.length;
  }
  return at;
};

/** Some rows of a chunk, without what stands between them and their neighbours. */
export const rowsBetween = (rows: Buffer, from: number, to: number): Buffer => {
  const start = startOf(rows, from);
  const end = start + startOf(rows.subarray(start), to - from) - BETWEEN.length;
  return rows.subarray(start, end);
};

/** Rows cut and put together to chunks of equal length. */
export async function* inChunks(
  rows: AsyncIterable<RowBytes>,
  size = CHUNK_ROWS,
): AsyncGenerator<RowParts> {
  let parts: Uint8Array[] = [];
  let count = 0;
  for await (const { bytes, rowCount } of rows) {
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let left = rowCount;
    while (count + left >= size) {
      const taken = size - count;
      const next = taken === left ? rest.length + BETWEEN.length : startOf(rest, taken);
      yield { parts: [...parts, rest.subarray(0, next - BETWEEN.length)], rowCount: size };
      rest = rest.subarray(next);
      left -= taken;
      parts = [];
      count = 0;
    }
    if (left === 0) continue;
    parts.push(rest);
    count += left;
  }
  if (count > 0) yield { parts, rowCount: count };
}
