import { type Clock, HOUR } from "../../kit/clock.ts";
import { parseRunId } from "./run-files.ts";
import { findFileKeys } from "../store/queries/stored-files.ts";
import { findKnownChunks } from "../store/queries/export-runs.ts";
import type { Store } from "../store/port.ts";
import { listAllTenants } from "../store/queries/tenants.ts";
import type { FileStore } from "./port.ts";

export type SweepNeeds = { files: FileStore; store: Store; clock: Clock };

export type Swept = { unfinished: number; unknown: number };

// An upload is stored before it is recorded, so a new file may not have a record yet.
const GRACE_MS = HOUR;
const BATCH_FILES = 500;

async function* splitIntoBatches(
  files: AsyncIterable<{ key: string; at: number }>,
  before: number,
): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const { key, at } of files) {
    if (at > before) continue;
    batch.push(key);
    if (batch.length < BATCH_FILES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns the keys that a record refers to. */
const findKnownKeys = async (
  store: Store,
  tenantId: string,
  keys: string[],
): Promise<Set<string>> => {
  const runs = new Map(
    keys.flatMap((key) => {
      const run = parseRunId(key);
      return run === undefined ? [] : [[key, run] as const];
    }),
  );
  const { read } = store;
  return new Set([
    ...(await findFileKeys(read, "document_attachments", tenantId, keys)),
    ...(await findFileKeys(read, "dispute_attachments", tenantId, keys)),
    ...(await findFileKeys(read, "saved_files", tenantId, keys)),
    ...(await findKnownChunks(read, tenantId, runs)),
  ]);
};

/**
 * Removes files that crashes left behind. It reads only the connections of this store's tenants, so a second store in
 * the same folder loses no file.
 */
export const sweep = async ({ files, store, clock }: SweepNeeds): Promise<Swept> => {
  const before = clock() - GRACE_MS;
  const unfinished = await files.discardUnfinished(before);
  let unknown = 0;
  for (const { id, connection_id } of await listAllTenants(store.read)) {
    for await (const keys of splitIntoBatches(files.list(connection_id), before)) {
      const known = await findKnownKeys(store, id, keys);
      for (const key of keys.filter((name) => !known.has(name))) {
        await files.remove(key);
        unknown += 1;
      }
    }
  }
  return { unfinished, unknown };
};
