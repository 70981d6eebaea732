import { buffer } from "node:stream/consumers";
import { mapConcurrent } from "../../kit/map-concurrent.ts";
import type { FileStore } from "../files/port.ts";
import type { RunChunkRow } from "../store/tables/schema.ts";
import { compressRows } from "../store/engine/row-frame.ts";
import { ROW_SEPARATOR, type RowBytes } from "../store/engine/dialect.ts";
import { CorruptChunk, decompressRows, regroupRows, sliceRows } from "./chunk.ts";

/** A chunk whose file is written, but which is not yet recorded for its run. */
export type Chunk = Omit<RunChunkRow, "tenant_id" | "run_id">;

const MOST_BYTES = 1024 ** 3;

/**
 * Number of chunks written concurrently: writing a file takes many turns of the event loop, which reading rows can use.
 */
const AT_ONCE = 3;

/** Writes rows as chunks in bounded memory and yields the chunks in order. */
export async function* writeSnapshot(
  files: FileStore,
  rows: AsyncIterable<RowBytes>,
  keyOf: (number: number) => string,
): AsyncGenerator<Chunk> {
  let number = 0;
  let first_row = 0;
  const write = async ({ bytes, rowCount: row_count, isFrame }: RowBytes): Promise<Chunk> => {
    const file_key = keyOf(number);
    const place = { number, first_row, row_count, file_key };
    number += 1;
    first_row += row_count;
    const frame = isFrame === true ? bytes : await compressRows(bytes);
    const { size: file_size, sha256 } = await files.put(file_key, [frame], MOST_BYTES);
    return { ...place, file_size, sha256 };
  };
  yield* mapConcurrent(regroupRows(rows), AT_ONCE, write);
}

/** Reads the rows of a chunk. @throws {CorruptChunk} */
const readChunk = async (
  files: FileStore,
  { file_key: key, file_size: size, sha256 }: RunChunkRow,
): Promise<Buffer> => {
  const file = await files.open(key);
  if (file === undefined) throw new CorruptChunk(key, "is lost");
  return decompressRows(await buffer(file.bytes), { key, size, sha256 });
};

const BETWEEN = Buffer.from(ROW_SEPARATOR);
const PIECE_BYTES = 256 * 1024;

/** Small pieces, so that a slow client can read each within the time limit. */
function* splitBuffer(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/**
 * Returns rows `from` up to `to` of a run: the JSON of each, separated by commas. The first chunk is read before the
 * promise resolves, so that a read error is known before the response begins.
 */
export const openRows = async (
  files: FileStore,
  chunks: readonly RunChunkRow[],
  { from, to }: { from: number; to: number },
): Promise<AsyncGenerator<Uint8Array>> => {
  const read = mapConcurrent(chunks, AT_ONCE, async (chunk) => ({
    ...chunk,
    bytes: await readChunk(files, chunk),
  }));
  let next = await read.next();
  async function* rows(): AsyncGenerator<Uint8Array> {
    try {
      for (let index = 0; next.done !== true; index += 1) {
        if (index > 0) yield BETWEEN;
        const { first_row, row_count, bytes } = next.value;
        const [begin, end] = [Math.max(0, from - first_row), Math.min(row_count, to - first_row)];
        const isWhole = begin === 0 && end === row_count;
        yield* splitBuffer(isWhole ? bytes : sliceRows(bytes, begin, end));
        next = await read.next();
      }
    } finally {
      await read.return();
    }
  }
  return rows();
};
