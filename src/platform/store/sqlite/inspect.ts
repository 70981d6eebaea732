import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Kysely } from "kysely";
import { guard, guardDialect } from "../engine/guard.ts";
import type { Db } from "../port.ts";
import type { Tables } from "../tables/schema.ts";
import { isSqliteOutage } from "../../../kit/sqlite/outage.ts";
import { createDatabaseDialect } from "./dialect.ts";

/** Opens a file without creating the files beside it that SQLite shares with other processes. */
const openReadOnly = (path: string): DatabaseSync => {
  const url = pathToFileURL(path);
  // Without a log no process has the database open, so it cannot change meanwhile.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
};

/** Reads from a SQLite file without changing it; undefined where there is none. */
export const inspectSqlite = async <T>(
  path: string,
  read: (db: Db) => Promise<T>,
): Promise<T | undefined> => {
  if (!existsSync(path)) return undefined;
  const database = await guard(isSqliteOutage, () => openReadOnly(path));
  const use = { exclusive: false, retryMs: 0 };
  await using db = new Kysely<Tables>({
    dialect: guardDialect(createDatabaseDialect(database, use), isSqliteOutage),
  });
  return await read(db);
};
