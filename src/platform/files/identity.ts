import { text } from "node:stream/consumers";
import { Problem } from "../../contract/errors.ts";
import type { NewId } from "../../kit/ids.ts";
import { listFileKeys } from "../store/queries/stored-files.ts";
import {
  confirmFileStore,
  findFileStore,
  insertFileStore,
  replaceFileStore,
} from "../store/queries/file-store.ts";
import type { Store } from "../store/port.ts";
import { listAllTenants } from "../store/queries/tenants.ts";
import type { FileStore } from "./port.ts";

type Needs = { store: Store; files: FileStore; newId: NewId };

/** The key of the file store's id. No connection has this name, so the sweep does not see it. */
export const STORE_ID_KEY = "store/id";
const MAX_BYTES = 100;

/** Reads the id of a file store; undefined if it has none yet. */
export const readStoreId = async (files: FileStore): Promise<string | undefined> => {
  const file = await files.open(STORE_ID_KEY);
  return file && text(file.bytes);
};

const writeStoreId = async (files: FileStore, id: string): Promise<void> => {
  await files.put(STORE_ID_KEY, [Buffer.from(id)], MAX_BYTES);
};

/** Describes in one sentence how the ids of database and file store differ; undefined if they do not. */
export const describeDifference = (
  place: string,
  { recorded, present }: { recorded: string; present: string | undefined },
): string | undefined => {
  if (present === recorded) return undefined;
  const found = present === undefined ? "has no id" : `has the id ${present}`;
  return `The database's files are in the file store with the id ${recorded}, but ${place} ${found}.`;
};

export const OTHER_STORE_HINT =
  'Set RECEIVABLES_FILES_URL to the file store that has the database\'s files; if they were moved, run "receivables-mcp admin files adopt".';

/**
 * Checks that the database belongs to this file store. At the first start it records the file store's id, which the
 * database arbitrates: nodes that start at once write the same one, so the file store needs no conditional write.
 */
export const checkFileStore = async (
  { store, files, newId }: Needs,
  place: string,
): Promise<void> => {
  const record = async () => {
    const id = (await readStoreId(files)) ?? newId();
    return store.transaction((tx) => insertFileStore(tx, id));
  };
  const recorded = (await findFileStore(store.read)) ?? (await record());
  // Read after the record, because another node may have written it meanwhile.
  let present = await readStoreId(files);
  if (present === undefined && recorded.is_written === 0) {
    await writeStoreId(files, recorded.id);
    present = recorded.id;
  }
  const difference = describeDifference(place, { recorded: recorded.id, present });
  if (difference !== undefined) throw new Error(`${difference} ${OTHER_STORE_HINT}`);
  if (recorded.is_written === 0) {
    await store.transaction((tx) => confirmFileStore(tx, recorded.id));
  }
};

/** Returns the number of recorded files, and the keys of those that the file store lacks. */
const findLost = async ({ store, files }: Needs): Promise<{ count: number; lost: string[] }> => {
  let count = 0;
  const lost: string[] = [];
  for (const { id, connection_id } of await listAllTenants(store.read)) {
    const present = new Set<string>();
    for await (const { key } of files.list(connection_id)) present.add(key);
    const recorded = await listFileKeys(store.read, id);
    count += recorded.length;
    lost.push(...recorded.filter((key) => !present.has(key)));
  }
  return { count, lost };
};

/**
 * Records this file store as the database's. A copy of the id of the present one is replaced, so that nodes which are
 * still configured for that one do not start.
 *
 * @throws {Problem} if it lacks a file
 */
export const adoptFileStore = async (
  needs: Needs,
  place: string,
): Promise<{ fileStore: string; id: string; files: number }> => {
  const { store, files, newId } = needs;
  const { count, lost } = await findLost(needs);
  if (lost.length > 0) {
    throw new Problem(
      "conflict",
      `${place} lacks ${lost.length} of the database's ${count} files, for instance ${lost[0]}. Copy them first.`,
    );
  }
  const [present, recorded] = [await readStoreId(files), await findFileStore(store.read)];
  const isOther = present !== undefined && present !== recorded?.id;
  const id = isOther ? present : newId();
  if (!isOther) await writeStoreId(files, id);
  await store.transaction((tx) => replaceFileStore(tx, id));
  return { fileStore: place, id, files: count };
};
