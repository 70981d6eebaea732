import type { FileHandle } from "node:fs/promises";
import { openUnlinkedFile } from "./unlinked-file.ts";

/** Bytes with random access. */
export type Bytes = {
  size: number;
  /** Reads up to `length` bytes from `at`; fewer at the end. */
  read(at: number, length: number): Promise<Buffer>;
  /** Yields the bytes from `from` (default 0) to `to` (default the end) in pieces of at most 64 KiB. */
  pieces(from?: number, to?: number): AsyncGenerator<Buffer>;
};

const FIRST_PIECE_BYTES = 4 * 1024;
const PIECE_BYTES = 64 * 1024;

const createBytes = (size: number, read: Bytes["read"]): Bytes => ({
  size,
  read,
  async *pieces(from = 0, to = size) {
    let length = FIRST_PIECE_BYTES;
    for (let at = from; at < to;) {
      const piece = await read(at, Math.min(length, to - at));
      if (piece.byteLength === 0) return;
      yield piece;
      at += piece.byteLength;
      length = Math.min(length * 2, PIECE_BYTES);
    }
  },
});

/** Returns random access to an open file. */
export const toBytes = (file: FileHandle, size: number): Bytes =>
  createBytes(size, async (at, length) => {
    const pieceBytes = Math.max(0, Math.min(length, size - at));
    const { bytesRead, buffer } = await file.read(
      Buffer.allocUnsafe(pieceBytes),
      0,
      pieceBytes,
      at,
    );
    return buffer.subarray(0, bytesRead);
  });

/** Returns random access to bytes in memory. */
export const fromBuffer = (buffer: Uint8Array): Bytes => {
  const view = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  return createBytes(view.byteLength, async (at, length) => view.subarray(at, at + length));
};

type Spooled = { file: FileHandle; size: number };

/** Spools a stream to a temporary file, which the caller must close. */
export const spool = async (source: AsyncIterable<Uint8Array>): Promise<Spooled> => {
  const file = await openUnlinkedFile("scan");
  try {
    let size = 0;
    for await (const chunk of source) {
      await file.writeFile(chunk);
      size += chunk.byteLength;
    }
    return { file, size };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** Spools a stream to a temporary file and calls `use` with random access to it. */
export const withSpooledFile = async (
  source: AsyncIterable<Uint8Array>,
  use: (bytes: Bytes) => Promise<unknown>,
): Promise<void> => {
  const { file, size } = await spool(source);
  try {
    await use(toBytes(file, size));
  } finally {
    await file.close();
  }
};
