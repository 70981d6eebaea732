import { randomBytes } from "node:crypto";
import { createBroker } from "../../broker/broker.ts";
import { derivePrincipal, type Origins } from "../../broker/credentials.ts";
import type { Credentials } from "../../config/settings.ts";
import type { Broker, Vault } from "../../broker/port.ts";
import { createVault, VAULT_PURPOSE } from "../../broker/vault.ts";
import { createClient } from "../../client/client.ts";
import type { Client, Transport } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { getMessage } from "../../kit/error.ts";
import { createLazy } from "../../kit/lazily.ts";
import { systemClock } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { createReplayFolder, type ReplayGuard } from "../../mcp/tools/asking/replay-guard.ts";
import type { OauthStore, Storage } from "../../records/port.ts";
import type { Config, Remote } from "../../config/config.ts";
import type { ProfiledConfig } from "./profile.ts";
import type { Embedded } from "./embedded.ts";
import { createReplayRecords, createVaultRecords } from "../../records/shared-records.ts";
import { checkSealedFolders } from "./sealed-folders.ts";
import type { SavedFiles } from "../../mcp/results/saved-files.ts";
import { createSavedPlaces, placeOf, type SavedPlaces } from "./saved-places.ts";
import { getDataPaths, warnOfOpenKeyFile } from "../../config/folder.ts";
import { createCheckedKeyReader } from "./master-key.ts";

export type Composed = {
  broker: Broker;
  replayGuard: ReplayGuard;
  /** The tables that the caller saves. */
  saved: SavedFiles;
  /** Seals cursors and confirmations of the MCP server. */
  key: Buffer;
  /** Ends the session and closes transports and stores. */
  close(): Promise<void>;
};

/** Creates the transport at its first use: listing tools needs neither network nor store. */
const createLazyTransport = (
  known: Pick<Transport, "getWithBody" | "requestMs">,
  make: () => Promise<Transport>,
): Transport => {
  let made: Transport | undefined;
  const open = createLazy(async () => {
    made = await make();
    return made;
  });
  return {
    ...known,
    send: async (request) => (await open()).send(request),
    close: async () => made?.close(),
  };
};

const throwUnavailable =
  (config: Config, log: Log) =>
  (error: unknown): never => {
    log.error("embedded.unavailable", toErrorFields(error));
    const why = getMessage(error);
    throw new Problem(
      "unavailable",
      `The embedded platform of the data folder ${config.dataFolder} does not start: ${why}`,
      { misconfigured: true },
      error,
    );
  };

const openEmbedded = (config: Config, log: Log) => async (): Promise<Embedded> =>
  (await import("./embedded.ts")).openEmbedded(config, log);

/** Shared by all callers of this process: a client per platform, the embedded platform, the master key. */
export type Shared = {
  config: Config;
  log: Log;
  masterKey: () => Promise<Buffer>;
  embedded: () => Promise<Embedded>;
  /** Returns the embedded platform if a call has opened it. */
  opened(): Embedded | undefined;
  /** Opens the storage of the built-in sign-in at its first use. It is not part of any platform. */
  oauthStorage(): Promise<Storage>;
  replayGuard: ReplayGuard;
  savedPlaces: SavedPlaces;
  /** The secrets that tools stored for people. */
  vault: Vault;
  clientOf(platform: Pick<Config, "remote" | "headerWord">): Client;
  close(): Promise<void>;
};

const createRemoteTransport = (baseUrls: Remote, { requestMs }: Config): Transport =>
  createLazyTransport({ getWithBody: true, requestMs }, async () => {
    const { createRemoteTransport } = await import("../../client/remote.ts");
    return createRemoteTransport({ baseUrls, requestMs });
  });

const createEmbeddedTransport = (embedded: Shared["embedded"], { requestMs }: Config): Transport =>
  createLazyTransport({ getWithBody: false, requestMs }, async () => {
    const { createInProcessTransport } = await import("../../client/in-process.ts");
    const fetch = async (request: Request) => (await embedded()).fetch(request);
    return createInProcessTransport({ fetch, requestMs });
  });

/** Returns the replay guard in the database that nodes share, if there is one, else in the data folder. */
const createReplayGuard = (config: Config, oauthStorage: Shared["oauthStorage"]): ReplayGuard => {
  if (config.databaseUrl === undefined) {
    return createReplayFolder(getDataPaths(config.dataFolder).replayGuard, systemClock);
  }
  return createReplayRecords(oauthStorage, systemClock);
};

/** Returns the vault in the database that nodes share, if there is one, else in the data folder. */
const createSharedVault = (
  { databaseUrl, dataFolder }: Config,
  needs: Pick<Shared, "masterKey" | "oauthStorage">,
): Vault => {
  const folder = getDataPaths(dataFolder).secrets;
  const entries = databaseUrl && createVaultRecords(needs.oauthStorage);
  return createVault({ ...needs, folder }, entries);
};

export const createShared = (
  config: Config,
  log: Log,
  open: () => Promise<Embedded> = openEmbedded(config, log),
): Shared => {
  const clients = new Map<string, Client>();
  let opened: Embedded | undefined;
  const embedded = createLazy(async () => {
    opened = await open().catch(throwUnavailable(config, log));
    return opened;
  });
  const masterKey = createCheckedKeyReader(config);
  let oauthStore: OauthStore | undefined;
  const oauthStorage = createLazy(async () => {
    const { openOauthStore } = await import("../../records/open.ts");
    const { createStorage } = await import("../../records/storage.ts");
    const { checkRecordsKey } = await import("../../oauth/records.ts");
    const { SESSIONS_PURPOSE } = await import("../../records/shared-sessions.ts");
    const { SAVED_PURPOSE } = await import("../../records/saved-files.ts");
    const { oauth: path, database: platformPath } = getDataPaths(config.dataFolder);
    const databaseUrl = config.databaseUrl?.reveal();
    oauthStore = await openOauthStore({ databaseUrl, path, platformPath });
    await checkRecordsKey(oauthStore, masterKey, [VAULT_PURPOSE, SESSIONS_PURPOSE, SAVED_PURPOSE]);
    return createStorage(oauthStore, systemClock);
  });
  const connect = ({ remote, headerWord }: Pick<Config, "remote" | "headerWord">): Client => {
    const transport =
      remote === undefined
        ? createEmbeddedTransport(embedded, config)
        : createRemoteTransport(remote, config);
    return createClient({ transport, headerWord, log });
  };
  return {
    config,
    log,
    masterKey,
    vault: createSharedVault(config, { masterKey, oauthStorage }),
    embedded,
    opened: () => opened,
    oauthStorage,
    replayGuard: createReplayGuard(config, oauthStorage),
    savedPlaces: createSavedPlaces({ embedded, masterKey, oauthStorage }, config),
    clientOf({ remote, headerWord }) {
      const name = `${headerWord} ${remote?.gateway ?? ""} ${remote?.export ?? ""}`;
      const client = clients.get(name) ?? connect({ remote, headerWord });
      clients.set(name, client);
      return client;
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
      await opened?.close();
      await oauthStore?.close();
    },
  };
};

/** The tenant and the credentials of one caller. */
export type Identity = {
  tenantId: string;
  /** The person's name in what is bound to them, such as cursors; not secret. */
  principal: string;
  /** Called for each call. */
  credentials: () => Promise<Credentials>;
  /** The origins of the credentials, for refusals. */
  origins?: Origins | undefined;
  /** Called when the platform refused the credential; returns a better problem to report, if there is one. */
  refused?: () => Promise<Problem | undefined>;
};

const failWithoutDemo = (): never => {
  throw new Problem(
    "unavailable",
    "This server has no credentials, and its store has no demo tenant: that is created only in an empty data folder, without DATABASE_URL. Set RECEIVABLES_TENANT_ID and RECEIVABLES_API_KEY_FILE, or run `receivables-mcp admin demo create`.",
    { misconfigured: true },
  );
};

/** The demo tenant's credentials are stored in a file, and created again where it is missing. */
const createDemoOrigins = (path: string): Origins => {
  const origin = {
    name: "the stored credentials of the demo tenant",
    remedy: `Start the server again. If that does not help, remove ${path} first: the next start makes new ones.`,
  };
  return { apiKey: origin, extApiKey: origin, password: origin };
};

/** Without credentials, calls of the embedded platform use the demo tenant. */
const createIdentity = (
  { embedded }: Shared,
  { remote, tenantId, credentials, origins, dataFolder }: ProfiledConfig,
): Identity => {
  if ([remote, credentials.apiKey, credentials.email].some((one) => one !== undefined)) {
    return {
      tenantId: tenantId ?? (remote === undefined ? "demo" : ""),
      principal: derivePrincipal(credentials),
      credentials: async () => credentials,
      origins,
    };
  }
  return {
    tenantId: tenantId ?? "demo",
    principal: "demo",
    credentials: async () => (await embedded()).credentials ?? failWithoutDemo(),
    origins: createDemoOrigins(getDataPaths(dataFolder).demo),
  };
};

const withRefusalHook = (broker: Broker, { refused }: Identity): Broker => ({
  ...broker,
  async call(...args) {
    try {
      return await broker.call(...args);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      throw (await refused?.()) ?? error;
    }
  },
});

/** Creates the broker of one identity over the shared clients. */
export const createBrokerFor = (
  shared: Shared,
  config: Config,
  identity: Identity = createIdentity(shared, config),
): Broker => {
  const { vault, log } = shared;
  const broker = createBroker({
    client: shared.clientOf(config),
    vault,
    headerWord: config.headerWord,
    ...identity,
    log,
    idleMs: config.lifetimes.sessionIdle,
  });
  return withRefusalHook(broker, identity);
};

/**
 * Returns the key that seals cursors and confirmations. Without a master key they are valid as long as the process
 * runs.
 */
export const openSealingKey = ({ masterKey, log }: Shared): Promise<Buffer> =>
  masterKey().catch((error: unknown) => {
    log.warn("master_key.unavailable", toErrorFields(error));
    return randomBytes(32);
  });

/** Creates the broker of a single caller, over a remote platform or the embedded one. */
export const compose = async (config: Config, log: Log): Promise<Composed> => {
  await checkSealedFolders(config);
  warnOfOpenKeyFile(config, log);
  const shared = createShared(config, log);
  const broker = createBrokerFor(shared, config);
  return {
    broker,
    replayGuard: shared.replayGuard,
    saved: shared.savedPlaces[placeOf(config)],
    key: await openSealingKey(shared),
    async close() {
      await broker.close();
      await shared.close();
    },
  };
};
