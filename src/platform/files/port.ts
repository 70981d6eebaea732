const PART = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MAX_PARTS = 4;

/**
 * The parts of a key: lower-case words and ids with slashes between, never anything that a caller writes.
 * Refuses one that could name anything but a file of the store's own.
 */
export const partsOf = (key: string): string[] => {
  const parts = key.split("/");
  if (parts.length > MAX_PARTS || !parts.every((part) => PART.test(part))) {
    throw new Error("not a file's key");
  }
  return parts;
};

/** Thrown where a stream has more bytes than it may; nothing of it is kept. */
export class FileTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`a file may have ${maxBytes} bytes at most`);
    this.name = "FileTooLarge";
  }
}

export type KeptFile = { size: number; sha256: string };

/** Keeps files by key. A file is there whole or not at all, and never changes. */
export type FileStore = {
  /** Keeps the stream's bytes once they are safe; where it or the stream fails, nothing is left. */
  put(key: string, bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<KeptFile>;
  /** The file's bytes, to be read or canceled; undefined where there is none. */
  open(key: string): Promise<{ size: number; bytes: ReadableStream<Uint8Array> } | undefined>;
  /** Removes the file, if there is one. */
  remove(key: string): Promise<void>;
  /** Every file that is kept beneath the first part of its key, and when it was. */
  list(first: string): AsyncIterable<{ key: string; at: number }>;
  /** Removes what was begun and not written to since a moment, because its writer died; tells how many. */
  discardUnfinished(before: number): Promise<number>;
};
