import type { OauthStore } from "./port.ts";

export type OauthStoreNeeds = {
  /** The PostgreSQL database, if the settings name one. */
  databaseUrl: string | undefined;
  /** The file of the store otherwise. */
  path: string;
  /** The database file of an embedded platform, which may hold records of released versions. */
  platformPath: string;
};

/** Opens the authorization server's own store. A driver is loaded only if it is used. */
export const openOauthStore = async ({
  databaseUrl,
  path,
  platformPath,
}: OauthStoreNeeds): Promise<OauthStore> => {
  if (databaseUrl !== undefined) {
    return (await import("./postgres/open.ts")).openPostgres(databaseUrl);
  }
  return (await import("./sqlite/open.ts")).openSqlite(path, platformPath);
};
