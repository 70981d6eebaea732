import { openBase } from "../../src/bin/compose/platform.ts";
import { Secret } from "../../src/kit/secret.ts";
import type { Store } from "../../src/platform/store/port.ts";

/** Opens the store that the environment of a child process names. */
export const openChildStore = async (): Promise<Store> => {
  const { RECEIVABLES_DATA: dataFolder = "", DATABASE_URL: url } = process.env;
  const databaseUrl = url === undefined ? undefined : new Secret(url);
  return (await openBase({ dataFolder, secretKey: undefined, databaseUrl })).store;
};
