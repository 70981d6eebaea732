import { Problem } from "../../contract/errors.ts";
import { type Clock, DAY } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { type Log, toErrorFields } from "../../kit/log.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { findSavedFile, listExpiredFiles, removeSavedFile } from "../store/queries/saved-files.ts";
import { toOutageProblem } from "../store/outages.ts";
import type { Store } from "../store/port.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { dropFiles } from "./drop.ts";
import { selectOwnFiles } from "./owner.ts";
import { type FileStore, FileTooLarge } from "./port.ts";
import type { StorageQuota } from "./quota.ts";

/** A saved table by its owner within a tenant, and its name. */
export type SavedName = { tenantId: string; owner: string; name: string };

/** The tables that people save, for a day. Only their owner reads them. */
export type SavedFiles = {
  /** Stores a file and returns its size. @throws {Problem} storage_quota_exceeded, payload_too_large, unavailable */
  put(file: SavedName, bytes: AsyncIterable<Uint8Array>): Promise<number>;
  open(file: SavedName): Promise<{ size: number; bytes: AsyncIterable<Uint8Array> } | undefined>;
};

const LIFE_MS = DAY;
const MIB = 1024 * 1024;
const MAX_MIB = 256;

type Needs = { store: Store; files: FileStore; clock: Clock; log: Log };

/** Converts failures of the file store and of the database; others stay as they are. */
const toProblem = (error: unknown, log: Log): unknown => {
  if (error instanceof FileTooLarge) {
    const message = `A saved table may have ${MAX_MIB} MiB. Narrow the filters.`;
    return new Problem("payload_too_large", message);
  }
  const outage = toOutageProblem(error);
  if (outage !== undefined) log.warn("saved_file.failed", toErrorFields(error));
  return outage ?? error;
};

/** Creates the saved files of all tenants in the file store. They count against the tenant's quota. */
export const createSavedFiles = ({
  store,
  files,
  clock,
  log,
  newId,
  quota,
}: Needs & { newId: NewId; quota: StorageQuota }): SavedFiles => ({
  async put({ tenantId, owner, name }, bytes) {
    const reserve = async () => {
      const { connection_id: connectionId } = await readTenant(store.read, tenantId);
      const reservation = await quota.reserve(tenantId, 0);
      return { key: `${connectionId}/saved/${newId()}`, reservation };
    };
    const { key, reservation } = await reserve().catch((error: unknown) => {
      throw toProblem(error, log);
    });
    try {
      const { size } = await files.put(key, reservation.meter(bytes), MAX_MIB * MIB);
      try {
        await store.transaction(async (tx) => {
          const times = { expires_at: clock() + LIFE_MS };
          const row = {
            tenant_id: tenantId,
            owner,
            name,
            file_key: key,
            file_size: size,
            ...times,
          };
          await insertAll(tx, "saved_files", [row]);
          await quota.check(tx, tenantId);
        });
      } catch (error) {
        await dropFiles({ files, log }, [key]);
        throw error;
      }
      return size;
    } catch (error) {
      throw toProblem(error, log);
    } finally {
      reservation.release();
    }
  },
  async open(file) {
    try {
      const row = await findSavedFile(store.read, file, clock());
      return row && (await files.open(row.file_key));
    } catch (error) {
      throw toProblem(error, log);
    }
  },
});

const AT_ONCE = 100;

/** Removes the files that have expired. Returns their number. */
export const purgeSavedFiles = async ({ store, files, clock, log }: Needs): Promise<number> => {
  let removed = 0;
  for (;;) {
    const rows = await listExpiredFiles(store.read, clock(), AT_ONCE);
    for (const row of rows) {
      const keys = await store.transaction(async (tx) => {
        await removeSavedFile(tx, row);
        return selectOwnFiles(tx, row.tenant_id, [row.file_key]);
      });
      await dropFiles({ files, log }, keys);
    }
    removed += rows.length;
    if (rows.length < AT_ONCE) return removed;
  }
};
