import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";

/** How many rows a snapshot's chunk has, the last one excepted. */
export const CHUNK_ROWS = 10_000;

/** Rows as JSON objects with `,\n` between them; a row itself holds no line feed. */
export type RowText = { text: string; rowCount: number };

export const BETWEEN_ROWS = ",\n";

const LEVEL = 3;
const LINE_FEED = 0x0a;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } };

/** Text as one frame. */
export const compressed = (text: string): Promise<Buffer> => compress(Buffer.from(text), OPTIONS);

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
  return decompress(bytes);
};

/** Where the row of a number begins; its end where it has no such row. */
const startOf = (rows: Buffer, number: number): number => {
  let at = 0;
  for (let row = 0; row < number; row += 1) {
    at = rows.indexOf(LINE_FEED, at) + 1;
    if (at === 0) return rows.length + BETWEEN_ROWS.length;
  }
  return at;
};

/** Some rows of a chunk, without what stands between them and their neighbours. */
export const rowsBetween = (rows: Buffer, from: number, to: number): Buffer => {
  const start = startOf(rows, from);
  const end = start + startOf(rows.subarray(start), to - from) - BETWEEN_ROWS.length;
  return rows.subarray(start, end);
};

/** Rows cut and joined to chunks of equal length. */
export async function* inChunks(
  rows: AsyncIterable<RowText>,
  size = CHUNK_ROWS,
): AsyncGenerator<RowText> {
  let texts: string[] = [];
  let count = 0;
  for await (const { text, rowCount } of rows) {
    let rest = text;
    let left = rowCount;
    while (count + left >= size) {
      const taken = size - count;
      const end = endOf(rest, taken, left);
      texts.push(rest.slice(0, end));
      yield { text: texts.join(BETWEEN_ROWS), rowCount: size };
      rest = rest.slice(end + BETWEEN_ROWS.length);
      left -= taken;
      texts = [];
      count = 0;
    }
    if (left === 0) continue;
    texts.push(rest);
    count += left;
  }
  if (count > 0) yield { text: texts.join(BETWEEN_ROWS), rowCount: count };
}

/** Where the first rows of a text end. */
const endOf = (text: string, wanted: number, rowCount: number): number => {
  if (wanted === rowCount) return text.length;
  let at = -1;
  for (let row = 0; row < wanted; row += 1) at = text.indexOf("\n", at + 1);
  return at - 1;
};
