import { PROFILE_PURPOSE } from "../../broker/profiles.ts";
import { VAULT_PURPOSE } from "../../broker/vault.ts";
import { createSeal } from "../../kit/seal.ts";
import { fitsFiles, listSealedFiles } from "../../kit/sealed-files.ts";
import type { Config } from "../../config/config.ts";
import { getDataPaths, readExistingMasterKey } from "../../config/folder.ts";

/** The folders with sealed files, and the names of those of which the master key opens none. */
export type SealedFolders = { present: string[]; foreign: string[] };

/** Tries the master key on the sealed files of the data folder. @throws {Error} where there are some, and no key */
export const findSealedFolders = async (
  config: Pick<Config, "dataFolder" | "secretKey" | "previousSecretKey">,
): Promise<SealedFolders> => {
  const { secrets, profiles } = getDataPaths(config.dataFolder);
  const found: SealedFolders = { present: [], foreign: [] };
  for (const [folder, purpose] of [
    [secrets, VAULT_PURPOSE],
    [profiles, PROFILE_PURPOSE],
  ] as const) {
    const files = await listSealedFiles(folder);
    if (files.length === 0) continue;
    found.present.push(folder);
    const seal = createSeal(await readExistingMasterKey(config), purpose);
    if (!(await fitsFiles(files, seal))) found.foreign.push(folder);
  }
  return found;
};

/** Refuses to start with a master key that opens no file of a folder of sealed ones. @throws {Error} naming the folder */
export const checkSealedFolders = async (config: Config): Promise<void> => {
  const { foreign } = await findSealedFolders(config);
  if (foreign.length === 0) return;
  throw new Error(
    `The files in ${foreign.join(" and ")} are sealed with another master key. Set RECEIVABLES_SECRET_KEY, or the file` +
      " secret.key of the data folder, to the key that they were sealed with; while a rotation is not finished, set" +
      " RECEIVABLES_SECRET_KEY_PREVIOUS to the former one. If that key is lost, move the files away, store the" +
      " secrets again and log in again.",
  );
};
