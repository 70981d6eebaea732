import { buffer } from "node:stream/consumers";
import type { FileStore } from "../files/port.ts";
import type { RunChunkRow } from "../store/tables.ts";
import {
  BETWEEN_ROWS,
  compressed,
  CorruptChunk,
  decompressed,
  inChunks,
  rowsBetween,
} from "./chunk.ts";
import type { RowText } from "./chunk.ts";

/** A chunk as it was written; its run is not told of it yet. */
export type Chunk = Omit<RunChunkRow, "tenant_id" | "run_id">;

const MOST_BYTES = 1024 ** 3;

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Writes rows as chunks, in bounded memory: while one is compressed and written, the next is read. */
export async function* writeSnapshot(
  files: FileStore,
  rows: AsyncIterable<RowText>,
  keyOf: (number: number) => string,
): AsyncGenerator<Chunk> {
  const write = async (number: number, first_row: number, { text, rowCount }: RowText) => {
    const file_key = keyOf(number);
    const bytes = await compressed(text);
    const { size: file_size, sha256 } = await files.put(file_key, only(bytes), MOST_BYTES);
    return { number, first_row, row_count: rowCount, file_key, file_size, sha256 };
  };
  let number = 0;
  let first = 0;
  let writing: Promise<Chunk> | undefined;
  try {
    for await (const chunk of inChunks(rows)) {
      if (writing !== undefined) yield await writing;
      writing = write(number, first, chunk);
      // Heard where it is awaited; until then its failure is nobody's.
      writing.catch(() => {});
      number += 1;
      first += chunk.rowCount;
    }
    if (writing !== undefined) yield await writing;
  } finally {
    // Nothing is written any more once this has ended.
    await writing?.catch(() => {});
  }
}

/** The rows of a chunk; throws CorruptChunk where they are not what was written. */
const readChunk = async (
  files: FileStore,
  { file_key: key, file_size: size, sha256 }: RunChunkRow,
): Promise<Buffer> => {
  const file = await files.open(key);
  if (file === undefined) throw new CorruptChunk(key, "is lost");
  return decompressed(await buffer(file.bytes), { key, size, sha256 });
};

const BETWEEN = Buffer.from(BETWEEN_ROWS);
const PIECE_BYTES = 256 * 1024;

/** In pieces that a slow receiver takes in time. */
function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/**
 * The rows of a run from `from` up to `to`, out of the chunks that hold them: the JSON of each with commas between.
 * The first chunk is read before it resolves, so what cannot be read is known before anything is sent.
 */
export const openRows = async (
  files: FileStore,
  chunks: readonly RunChunkRow[],
  { from, to }: { from: number; to: number },
): Promise<AsyncGenerator<Uint8Array>> => {
  const open = (chunk: RunChunkRow | undefined): Promise<Buffer> | undefined => {
    const opened = chunk && readChunk(files, chunk);
    opened?.catch(() => {});
    return opened;
  };
  const first = open(chunks[0]);
  await first;
  async function* rows(): AsyncGenerator<Uint8Array> {
    let next = first;
    for (const [index, chunk] of chunks.entries()) {
      const opened = await next;
      next = open(chunks[index + 1]);
      if (opened === undefined) return;
      if (index > 0) yield BETWEEN;
      const { first_row, row_count } = chunk;
      const last = Math.min(row_count, to - first_row);
      yield* pieces(rowsBetween(opened, Math.max(0, from - first_row), last));
    }
  }
  return rows();
};
