import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Kysely } from "kysely";
import { guard, guardDialect } from "../guard.ts";
import { inspectStore, type StoreState } from "../inspect.ts";
import type { Tables } from "../tables.ts";
import { isSqliteOutage } from "../../../kit/sqlite/outage.ts";
import { createDatabaseDialect } from "./dialect.ts";

/** Opens a file without creating the files beside it that SQLite shares with other processes. */
const openReadOnly = (path: string): DatabaseSync => {
  const url = pathToFileURL(path);
  // Without a log no process has the database open, so it cannot change meanwhile.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
};

/** Reads the state of a SQLite file; undefined where there is none. */
export const inspectSqlite = async (path: string): Promise<StoreState | undefined> => {
  if (!existsSync(path)) return undefined;
  const database = await guard(isSqliteOutage, () => openReadOnly(path));
  const use = { exclusive: false, retryMs: 0 };
  const db = new Kysely<Tables>({
    dialect: guardDialect(createDatabaseDialect(database, use), isSqliteOutage),
  });
  try {
    return await inspectStore(db);
  } finally {
    await db.destroy();
  }
};
