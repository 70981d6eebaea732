import { type Clock, HOUR } from "../../kit/clock.ts";
import { knownDisputeFiles } from "../store/dispute-attachments.ts";
import { knownFiles } from "../store/document-attachments.ts";
import type { Store } from "../store/port.ts";
import type { FileStore } from "./port.ts";

export type SweepNeeds = { files: FileStore; store: Store; clock: Clock };

export type Swept = { unfinished: number; unknown: number };

// An upload is kept before it is recorded, so a file that has no record may only be young.
const GRACE_MS = HOUR;
const BATCH_FILES = 500;

async function* batchesOf(
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

/**
 * Removes what crashes have left behind. It looks only beneath the connections of this store's own tenants,
 * so a second store over the same folder never loses a file to the first.
 */
export const sweep = async ({ files, store, clock }: SweepNeeds): Promise<Swept> => {
  const before = clock() - GRACE_MS;
  const unfinished = await files.discardUnfinished(before);
  let unknown = 0;
  const tenants = await store.read.selectFrom("tenants").select(["id", "connection_id"]).execute();
  for (const { id, connection_id } of tenants) {
    for await (const keys of batchesOf(files.list(connection_id), before)) {
      const known = new Set([
        ...(await knownFiles(store.read, id, keys)),
        ...(await knownDisputeFiles(store.read, id, keys)),
      ]);
      for (const key of keys.filter((name) => !known.has(name))) {
        // oxlint-disable-next-line no-await-in-loop -- nobody waits for it
        await files.remove(key);
        unknown += 1;
      }
    }
  }
  return { unfinished, unknown };
};
