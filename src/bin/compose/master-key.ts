import { existsSync } from "node:fs";
import { createLazy } from "../../kit/lazily.ts";
import type { MasterKey } from "../../kit/seal.ts";
import type { Config } from "../../config/config.ts";
import { createMasterKeyReader, getDataPaths, hasMasterKey } from "../../config/folder.ts";
import { checkSealedFolders } from "./sealed-folders.ts";

/** Whether there can be a store. Loading what reads one would slow the first call on an empty data folder. */
const hasStore = ({ databaseUrl, dataFolder }: Config): boolean =>
  databaseUrl !== undefined || existsSync(getDataPaths(dataFolder).database);

/**
 * Creates a reader of the master key for programs that have not opened the store yet: it creates a missing key only
 * where nothing that is stored depends on one, and throws otherwise. A new key would hide which one is missing.
 */
export const createCheckedKeyReader = (config: Config): (() => Promise<MasterKey>) => {
  const readOrCreate = createMasterKeyReader(config);
  return createLazy(async () => {
    if (!(await hasMasterKey(config))) {
      await checkSealedFolders(config);
      if (hasStore(config)) {
        const { requireStoreKey } = await import("./inspect-store.ts");
        await requireStoreKey(config);
      }
    }
    return readOrCreate();
  });
};
