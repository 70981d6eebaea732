import type { IncomingMessage, RequestListener } from "node:http";
import { userInfo } from "node:os";
import about from "../../../package.json" with { type: "json" };
import { HOUR, MINUTE, systemClock } from "../../kit/clock.ts";
import { randomId } from "../../kit/ids.ts";
import { createLazy } from "../../kit/lazily.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { makeFolder } from "../../kit/make-folder.ts";
import { createNetworks } from "../../kit/network.ts";
import { createResolve } from "../../kit/resolve.ts";
import { createRecordChange, type RecordChange } from "../../platform/admin/changes.ts";
import { checkFileStore } from "../../platform/files/identity.ts";
import { formatLocation } from "../../platform/files/location.ts";
import { openFiles } from "../../platform/files/open.ts";
import type { FileStore } from "../../platform/files/port.ts";
import { createPlatform, type Platform } from "../../platform/platform.ts";
import { createScanner } from "../../platform/clamd/scanner.ts";
import { openSqlite } from "../../platform/store/sqlite/open.ts";
import type { AnnounceUpgrade } from "../../platform/store/migrations/migrate.ts";
import type { Store } from "../../platform/store/port.ts";
import { recordVersion } from "../../platform/store/engine/program-versions.ts";
import type { Config } from "../../config/config.ts";
import { readExistingMasterKey, getDataPaths, createMasterKeyReader } from "../../config/folder.ts";
import { readBrand } from "./operator.ts";
import { checkSealedFolders } from "./sealed-folders.ts";
import type { Served } from "../../server/serve.ts";

/** Dependencies of the platform and of administrative commands. */
export type Base = {
  store: Store;
  clock: typeof systemClock;
  newId: typeof randomId;
  /** Writes the audit entry of a change by the command line. */
  record: RecordChange;
};

type Where = Pick<Config, "dataFolder" | "databaseUrl" | "secretKey"> &
  Partial<Pick<Config, "previousSecretKey">>;

const openStore = async (where: Where, announceUpgrade?: AnnounceUpgrade): Promise<Store> => {
  const { databaseUrl, dataFolder } = where;
  const signing = {
    masterKey: (mustExist: boolean) =>
      mustExist ? readExistingMasterKey(where) : createMasterKeyReader(where)(),
    clock: systemClock,
    newId: randomId,
    announceUpgrade,
  };
  if (databaseUrl === undefined) return openSqlite(getDataPaths(dataFolder).database, signing);
  const { openPostgres } = await import("../../platform/store/postgres/open.ts");
  return openPostgres(databaseUrl.reveal(), signing);
};

/** Returns the name of the user who runs the process, or the numeric id of one that has no name. */
export const readOperator = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};

/** The fields of the log line about an upgrade: other checkouts and versions may share the data folder. */
export const describeUpgrade = (steps: readonly string[]) => ({
  version: about.version,
  steps,
  hint: "Former versions refuse this store from now on. Give each checkout its own data folder (RECEIVABLES_DATA) to use several.",
});

export const openBase = async (where: Where, announce?: AnnounceUpgrade): Promise<Base> => {
  await makeFolder(where.dataFolder);
  const store = await openStore(where, announce);
  await store
    .transaction((tx) => recordVersion(tx, about.version, systemClock()))
    .catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
  const needs = { store, clock: systemClock, newId: randomId };
  return { ...needs, record: createRecordChange({ ...needs, operator: readOperator() }) };
};

/** Opens the configured file store. @throws {Error} if it is not the database's */
export const openOwnFiles = async (base: Base, { files }: Pick<Config, "files">) => {
  const opened = await openFiles(files);
  await checkFileStore({ ...base, files: opened }, formatLocation(files));
  return opened;
};

const openFilesOrClose = (base: Base, config: Config): Promise<FileStore> =>
  openOwnFiles(base, config).catch(async (error: unknown) => {
    await base.store.close();
    throw error;
  });

export type OpenPlatform = Base & {
  files: FileStore;
  masterKey: Buffer;
  fetch: Platform["fetch"];
  figures: Platform["figures"];
  savedFiles: Platform["savedFiles"];
  close(): Promise<void>;
};

const sweep = async (platform: Platform, log: Log): Promise<void> => {
  const swept = await platform.sweep();
  if (swept.unfinished + swept.unknown > 0) log.info("files.swept", swept);
};

const purge = async (platform: Platform, log: Log): Promise<void> => {
  const purged = await platform.purge();
  if (Object.values(purged).some((count) => count > 0)) log.info("store.purged", purged);
};

/** Cleans up and signs now and hourly. Returns a function that stops this after the current run. */
const cleanHourly = (platform: Platform, log: Log): (() => Promise<void>) => {
  let underWay: Promise<void> | undefined;
  const warn = (event: string) => (error: unknown) => log.warn(event, toErrorFields(error));
  const once = async (): Promise<void> => {
    await sweep(platform, log).catch(warn("files.sweep_failed"));
    await platform.signHeads().catch(warn("audit.heads_not_signed"));
    await purge(platform, log).catch(warn("store.purge_failed"));
    underWay = undefined;
  };
  const run = (): void => {
    underWay ??= once();
  };
  const timer = setInterval(run, HOUR);
  timer.unref();
  const purgeCounters = (): void => void platform.purgeCounters().catch(warn("store.purge_failed"));
  const counters = setInterval(purgeCounters, MINUTE);
  counters.unref();
  run();
  return async () => {
    clearInterval(timer);
    clearInterval(counters);
    await underWay;
  };
};

const isTransfer = ({ url }: IncomingMessage): boolean =>
  /^\/(uploads|downloads)\/[^/]+(\?|$)/.test(url ?? "");

/**
 * Creates the server of uploads and downloads alone, on a free port of this machine, which makes signed URLs usable when
 * the platform is called in memory. It starts when its URL is first needed.
 */
const createTransferServer = (platform: () => Pick<Platform, "fetch">) => {
  let opened: Served | undefined;
  const open = createLazy(async () => {
    const { createPlatformListener, serve } = await import("../../server/serve.ts");
    const transfer = createPlatformListener(platform());
    const listener: RequestListener = (request, response) =>
      isTransfer(request)
        ? transfer(request, response)
        : response.writeHead(404, { Connection: "close" }).end("There is no such file.\n");
    opened = await serve(listener, { host: "127.0.0.1", port: 0 });
    return opened;
  });
  return {
    url: async () => (await open()).url,
    close: async () => opened?.close(),
  };
};

/** Opens the platform over the data folder's store; `ownUrl` is set if this process also serves it over a socket. */
export const openPlatform = async (
  config: Config,
  log: Log,
  ownUrl?: () => Promise<string>,
): Promise<OpenPlatform> => {
  await checkSealedFolders(config);
  const base = await openBase(config, (steps) =>
    log.warn("store.upgraded", describeUpgrade(steps)),
  );
  const masterKey = await createMasterKeyReader(config)();
  const { webhooks } = config;
  const transferServer = createTransferServer(() => platform);
  const files = await openFilesOrClose(base, config);
  const platform = createPlatform({
    ...base,
    files,
    log,
    masterKey,
    scanner: createScanner(config.scanner),
    tenantFileBytes: config.tenantFileBytes,
    urlLives: config.urlLives,
    publicUrl: config.publicUrl,
    ownUrl: ownUrl ?? transferServer.url,
    lifetimes: config.lifetimes,
    limits: config.limits,
    auditReads: config.auditReads,
    retention: config.retention,
    trustedProxies: config.trustedProxies,
    webhooks: {
      hosts: { resolve: createResolve(), allowed: createNetworks(webhooks.allow) },
      delaysMs: webhooks.delaysMs,
    },
    headerWord: config.headerWord,
    brand: readBrand(config),
    version: about.version,
    hasPage: ownUrl !== undefined,
  });
  const endCleaning = cleanHourly(platform, log);
  platform.worker.start();
  return {
    ...base,
    files,
    masterKey,
    fetch: platform.fetch,
    figures: platform.figures,
    savedFiles: platform.savedFiles,
    async close() {
      await transferServer.close();
      await endCleaning();
      await platform.close();
      await base.store.close();
    },
  };
};
