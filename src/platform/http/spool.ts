import type { FileHandle } from "node:fs/promises";
import { openUnlinkedFile } from "../../kit/unlinked-file.ts";

const MIB = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

export type SpoolLimits = {
  /** Bytes of one answer. */
  bytes: number;
  /** Answers of one tenant, and of all tenants, at a time. */
  perOwner: number;
  total: number;
};

export const SPOOLS: SpoolLimits = { bytes: 128 * MIB, perOwner: 8, total: 64 };

/** The rest of an answer in a temporary file. */
export type Spool = {
  /** Returns the next bytes, undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
};

/** Reads pieces into a file until they end. Returns the size, and whether that was all. */
const drain = async (
  pieces: AsyncGenerator<Uint8Array>,
  file: FileHandle,
  most: number,
): Promise<{ size: number; isAll: boolean }> => {
  let size = 0;
  while (size < most) {
    const { done, value } = await pieces.next();
    if (done === true) return { size, isAll: true };
    await file.writeFile(value);
    size += value.byteLength;
  }
  return { size, isAll: false };
};

/**
 * Creates the function that reads the rest of an answer into a temporary file, so that its source can be released
 * however slowly the client reads. It returns undefined while the tenant, or all tenants together, have as many such
 * files as the limits allow. An answer over the limit of bytes continues from its source.
 */
export const createSpools = (limits: SpoolLimits = SPOOLS) => {
  const held = new Map<string, number>();
  let total = 0;
  const count = (owner: string, change: 1 | -1): void => {
    total += change;
    const left = (held.get(owner) ?? 0) + change;
    if (left === 0) held.delete(owner);
    else held.set(owner, left);
  };

  const read = async (
    pieces: AsyncGenerator<Uint8Array>,
    release: () => Promise<void>,
  ): Promise<Spool> => {
    const file = await openUnlinkedFile("answer");
    let at = 0;
    try {
      const { size, isAll } = await drain(pieces, file, limits.bytes);
      if (isAll) await release();
      return {
        async next() {
          const length = Math.min(PIECE_BYTES, size - at);
          if (length === 0) return isAll ? undefined : (await pieces.next()).value;
          const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
          at += bytesRead;
          return buffer.subarray(0, bytesRead);
        },
        close: () => file.close(),
      };
    } catch (error) {
      await file.close();
      throw error;
    }
  };

  return (
    owner: string,
    pieces: AsyncGenerator<Uint8Array>,
    release: () => Promise<void>,
  ): Promise<Spool> | undefined => {
    if (total >= limits.total || (held.get(owner) ?? 0) >= limits.perOwner) return undefined;
    count(owner, 1);
    return read(pieces, release).then(
      (spool) => ({
        ...spool,
        async close() {
          count(owner, -1);
          await spool.close();
        },
      }),
      (error: unknown) => {
        count(owner, -1);
        throw error;
      },
    );
  };
};

export type SpoolRest = ReturnType<typeof createSpools>;
