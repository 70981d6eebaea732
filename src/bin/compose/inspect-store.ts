import { systemClock } from "../../kit/clock.ts";
import { randomId } from "../../kit/ids.ts";
import { inspectStore } from "../../platform/store/inspect.ts";
import type { Db } from "../../platform/store/port.ts";
import { readAuditKey } from "../../platform/store/audit/signing.ts";
import type { Config } from "../../config/config.ts";
import { getDataPaths, readExistingMasterKey } from "../../config/folder.ts";

/** Reads from the embedded platform's store; undefined where there is none. */
export const readStore = async <T>(
  { databaseUrl, dataFolder }: Config,
  read: (db: Db) => Promise<T>,
): Promise<T | undefined> => {
  if (databaseUrl !== undefined) {
    const { inspectPostgres } = await import("../../platform/store/postgres/inspect.ts");
    return inspectPostgres(databaseUrl.reveal(), read);
  }
  const { inspectSqlite } = await import("../../platform/store/sqlite/inspect.ts");
  return inspectSqlite(getDataPaths(dataFolder).database, read);
};

/**
 * Refuses a master key that is missing or does not fit, where the store is signed. Also for MCP servers in front of a
 * remote platform, whose database can be the platform's, too.
 *
 * @throws {Error} also where the store cannot be read
 */
export const requireStoreKey = async (config: Config): Promise<void> => {
  const masterKey = () => readExistingMasterKey(config);
  await readStore(config, async (db) => {
    const { keyIds } = await inspectStore(db);
    if (keyIds.length > 0)
      await readAuditKey(db, { masterKey, clock: systemClock, newId: randomId });
  });
};
