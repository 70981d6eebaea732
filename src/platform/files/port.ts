const PART = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MAX_PARTS = 4;

/**
 * Splits a key into its parts: lower-case words and ids separated by slashes, never user input. Refuses keys that could
 * name a file outside the store.
 */
export const parseKey = (key: string): string[] => {
  const parts = key.split("/");
  if (parts.length > MAX_PARTS || !parts.every((part) => PART.test(part))) {
    throw new Error("not a file's key");
  }
  return parts;
};

/** Thrown if a stream exceeds its maximum size; nothing of it is stored. */
export class FileTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`a file may have ${maxBytes} bytes at most`);
    this.name = "FileTooLarge";
  }
}

/** Bytes of a file: from an offset up to another, without it. */
export type Span = { from: number; to: number };

export type KeptFile = { size: number; sha256: string };

/** The bytes of a file, in pieces. */
export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Stores files by key. A file exists completely or not at all, and never changes. */
export type FileStore = {
  /** Stores the stream's bytes durably; after a failure nothing is stored. */
  put(key: string, bytes: Bytes, maxBytes: number): Promise<KeptFile>;
  /**
   * Opens a file, or a span within it; undefined if it does not exist. The caller must read or cancel the bytes, of
   * which there are `size`.
   */
  open(
    key: string,
    span?: Span,
  ): Promise<{ size: number; bytes: ReadableStream<Uint8Array> } | undefined>;
  /** Removes the file if it exists. */
  remove(key: string): Promise<void>;
  /** Lists the files whose key begins with this part, with the time at which each was stored. */
  list(first: string): AsyncIterable<{ key: string; at: number }>;
  /** Removes drafts that were not written to since a time, because their writer died; returns their number. */
  discardUnfinished(before: number): Promise<number>;
};
