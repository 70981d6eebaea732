import { mkdir } from "node:fs/promises";
import about from "../../package.json" with { type: "json" };
import { systemClock } from "../kit/clock.ts";
import { randomId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createPlatform, type Platform } from "../platform/platform.ts";
import { openSqlite } from "../platform/store/sqlite/open.ts";
import type { Store } from "../platform/store/port.ts";
import type { Config } from "./config.ts";
import { folderOf, masterKeyOf } from "./folder.ts";

/** What administrative commands and the platform work on. */
export type Base = { store: Store; clock: typeof systemClock; newId: typeof randomId };

type Where = Pick<Config, "dataFolder" | "databaseUrl">;

const openStore = async ({ databaseUrl, dataFolder }: Where): Promise<Store> => {
  if (databaseUrl === undefined) return openSqlite(folderOf(dataFolder).database);
  const { openPostgres } = await import("../platform/store/postgres/open.ts");
  return openPostgres(databaseUrl.reveal());
};

export const openBase = async (where: Where): Promise<Base> => {
  await mkdir(where.dataFolder, { recursive: true, mode: 0o700 });
  return { store: await openStore(where), clock: systemClock, newId: randomId };
};

export type OpenPlatform = Base & {
  masterKey: Buffer;
  fetch: Platform["fetch"];
  close(): Promise<void>;
};

/** The platform over the data folder's store. */
export const openPlatform = async (config: Config, log: Log): Promise<OpenPlatform> => {
  const masterKey = await masterKeyOf(config)();
  const base = await openBase(config);
  const { lifetimes, limits, trustedProxies, headerWord } = config;
  const platform = createPlatform({
    ...base,
    log,
    masterKey,
    lifetimes,
    limits,
    trustedProxies,
    headerWord,
    version: about.version,
  });
  return {
    ...base,
    masterKey,
    fetch: platform.fetch,
    async close() {
      await platform.close();
      await base.store.close();
    },
  };
};
