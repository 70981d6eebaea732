import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { ROW_SEPARATOR, type RowBytes } from "../store/dialect.ts";

/** Least number of rows in each chunk of a snapshot except the last. */
export const CHUNK_ROWS = 10_000;

const BETWEEN = Buffer.from(ROW_SEPARATOR);
const LEVEL = 3;
const LINE_FEED = 0x0a;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

// Large enough for nearly every chunk and its frame: joining the small pieces of the default costs more than
// compression.
const ROWS = { chunkSize: 8 * 1024 ** 2 };
const FRAME = {
  chunkSize: 1024 ** 2,
  params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
};

/** Compresses rows to one zstd frame. */
export const compressRows = (rows: Uint8Array): Promise<Buffer> => compress(rows, FRAME);

/** Consecutive rows; the separator between two parts is missing. */
export type RowParts = { parts: readonly Uint8Array[]; rowCount: number };

const sumLengths = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { length }) => sum + length, BETWEEN.length * (parts.length - 1));

/** Frees memory that is not read again: left to the garbage collector, it would collect after every 10 MB. */
const free = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
};

const fill = (room: Buffer, parts: readonly Uint8Array[]): void => {
  let at = 0;
  for (const part of parts) {
    if (at > 0) at += BETWEEN.copy(room, at);
    room.set(part, at);
    at += part.length;
    free(part);
  }
};

/** Creates a compressor of parts. It reuses its buffers, because allocating memory takes longer than filling it. */
export const createCompressor = () => {
  const spare: Buffer[] = [];
  return async (parts: readonly Uint8Array[]): Promise<Buffer> => {
    const [only] = parts;
    if (only !== undefined && parts.length === 1) {
      return compressRows(only).finally(() => free(only));
    }
    const length = sumLengths(parts);
    let room = spare.pop();
    if (room === undefined || room.length < length) room = Buffer.allocUnsafeSlow(length);
    fill(room, parts);
    const frame = await compressRows(room.subarray(0, length));
    spare.push(room);
    return frame;
  };
};

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
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
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

/** Regroups rows into chunks of at least `size` rows, except the last. */
export async function* regroupRows(
  rows: AsyncIterable<RowBytes>,
  size = CHUNK_ROWS,
): AsyncGenerator<RowParts> {
  let parts: Uint8Array[] = [];
  let rowCount = 0;
  for await (const some of rows) {
    parts.push(some.bytes);
    rowCount += some.rowCount;
    if (rowCount < size) continue;
    yield { parts, rowCount };
    parts = [];
    rowCount = 0;
  }
  if (rowCount > 0) yield { parts, rowCount };
}
