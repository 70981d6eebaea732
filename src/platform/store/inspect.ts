import { findFileStore } from "./queries/file-store.ts";
import { listApplied } from "./engine/program-versions.ts";
import { listMigrationNames } from "./migrations/migrate.ts";
import type { Db } from "./port.ts";
import { signingKeyIds } from "./audit/signing.ts";

/** The content of a database, read without changing it. */
export type StoreState = {
  /** Whether it has any step of the schema. */
  isEmpty: boolean;
  /** Steps that this program needs and the database lacks. */
  missing: string[];
  /** Steps that this program does not know. */
  later: string[];
  /** Ids of the keys that sign the audit logs. */
  keyIds: string[];
  /** The id of its file store, once one is recorded. */
  fileStoreId: string | undefined;
};

/** SQLSTATE undefined_table. PostgreSQL's messages are in the language of the server. */
const UNDEFINED_TABLE = "42P01";

const isMissingTable = (error: unknown): boolean =>
  error instanceof Error &&
  (("code" in error && error.code === UNDEFINED_TABLE) || error.message.includes("no such table"));

const readApplied = async (db: Db): Promise<string[]> => {
  try {
    return await listApplied(db);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
};

/** The step that adds the ids of signing keys. */
const KEYED = "0010-audit-key";

/** The step that adds the id of the file store. */
const WITH_FILE_STORE = "0015-file-store";

/** Reads the state of a database of any version. */
export const inspectStore = async (db: Db): Promise<StoreState> => {
  const known = listMigrationNames();
  const applied = await readApplied(db);
  return {
    isEmpty: applied.length === 0,
    missing: known.filter((name) => !applied.includes(name)),
    later: applied.filter((name) => !known.includes(name)),
    keyIds: applied.includes(KEYED) ? await signingKeyIds(db) : [],
    fileStoreId: applied.includes(WITH_FILE_STORE) ? (await findFileStore(db))?.id : undefined,
  };
};
