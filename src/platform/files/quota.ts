import { Problem } from "../../contract/errors.ts";
import { countStoredBytes } from "../store/queries/stored-files.ts";
import type { Db, Store } from "../store/port.ts";

/** Bytes of one upload that count against its tenant's quota before the file is recorded. */
export type Reservation = {
  /** Counts more bytes. @throws {Problem} storage_quota_exceeded */
  add(bytes: number): void;
  /** Counts the bytes of a stream as they arrive. */
  meter(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  /** Ends the reservation: the file is recorded, or discarded. */
  release(): void;
};

export type StorageQuota = {
  /** Reserves bytes for an upload. @throws {Problem} storage_quota_exceeded */
  reserve(tenantId: string, bytes: number): Promise<Reservation>;
  /**
   * Checks the sum of recorded files, in the transaction that has just recorded one. Writers of one tenant go one
   * after the other, so no two of them exceed the quota together.
   *
   * @throws {Problem} storage_quota_exceeded
   */
  check(tx: Db, tenantId: string): Promise<void>;
};

const MIB = 1024 * 1024;

/**
 * Limits the bytes that one tenant stores. Uploads of this process count as they arrive, which refuses most of them
 * early; the check when a file is recorded is exact over all processes.
 */
export const createStorageQuota = (store: Store, maxBytes: number): StorageQuota => {
  const reserved = new Map<string, number>();

  const exceeded = (): Problem =>
    new Problem(
      "storage_quota_exceeded",
      `The tenant's files would exceed ${Math.floor(maxBytes / MIB)} MiB. Delete files that are no longer needed, or raise RECEIVABLES_TENANT_FILE_MIB.`,
    );

  const change = (tenantId: string, bytes: number): void => {
    const sum = (reserved.get(tenantId) ?? 0) + bytes;
    if (sum > 0) reserved.set(tenantId, sum);
    else reserved.delete(tenantId);
  };

  return {
    async check(tx, tenantId) {
      if ((await countStoredBytes(tx, tenantId)) > maxBytes) throw exceeded();
    },
    async reserve(tenantId, bytes) {
      const stored = await countStoredBytes(store.read, tenantId);
      let own = 0;
      const add = (count: number): void => {
        if (stored + (reserved.get(tenantId) ?? 0) + count > maxBytes) throw exceeded();
        own += count;
        change(tenantId, count);
      };
      add(bytes);
      return {
        add,
        async *meter(source) {
          for await (const chunk of source) {
            add(chunk.byteLength);
            yield chunk;
          }
        },
        release() {
          change(tenantId, -own);
          own = 0;
        },
      };
    },
  };
};
