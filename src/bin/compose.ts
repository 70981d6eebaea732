import { randomBytes } from "node:crypto";
import { createBroker } from "../broker/broker.ts";
import { type Credentials, principalOf } from "../broker/credentials.ts";
import type { Broker } from "../broker/port.ts";
import { fileVault } from "../broker/vault.ts";
import { createClient } from "../client/client.ts";
import type { Transport } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import { lazily } from "../kit/lazily.ts";
import { errorFields, type Log } from "../kit/log.ts";
import type { Config } from "./config.ts";
import type { Embedded } from "./embedded.ts";
import { folderOf, masterKeyOf } from "./folder.ts";

export type Composed = {
  broker: Broker;
  /** Seals what the MCP server hands out. */
  key: Buffer;
  /** Logs out, and closes whatever was opened. */
  close(): Promise<void>;
};

/** A transport that is made at its first use: listing tools needs neither network nor store. */
const lazyTransport = (
  known: Pick<Transport, "getWithBody" | "requestMs">,
  make: () => Promise<Transport>,
): Transport => {
  let made: Transport | undefined;
  const open = lazily(async () => {
    made = await make();
    return made;
  });
  return {
    ...known,
    send: async (request) => (await open()).send(request),
    close: async () => made?.close(),
  };
};

const hasAny = ({ apiKey, email }: Credentials): boolean =>
  apiKey !== undefined || email !== undefined;

// Without a lasting key cursors and confirmations still hold as long as the process does.
const keyFor = (masterKey: () => Promise<Buffer>, log: Log): Promise<Buffer> =>
  masterKey().catch((error: unknown) => {
    log.warn("master_key.unavailable", errorFields(error));
    return randomBytes(32);
  });

const remoteParts = (config: Config, remote: NonNullable<Config["remote"]>) => ({
  transport: lazyTransport({ getWithBody: true, requestMs: config.requestMs }, async () => {
    const { remoteTransport } = await import("../client/remote.ts");
    return remoteTransport({ baseUrls: remote, requestMs: config.requestMs });
  }),
  tenantId: config.tenantId ?? "",
  principal: principalOf(config.credentials),
  credentials: async () => config.credentials,
  close: async () => {},
});

const unusable =
  (config: Config, log: Log) =>
  (error: unknown): never => {
    log.error("embedded.unavailable", errorFields(error));
    const why = error instanceof Error ? error.message : String(error);
    throw new Problem(
      "unavailable",
      `The embedded platform cannot use the data folder ${config.dataFolder}: ${why}`,
      {},
      error,
    );
  };

const embeddedParts = (config: Config, log: Log, open: () => Promise<Embedded>) => {
  let opened: Embedded | undefined;
  const embedded = lazily(async () => {
    opened = await open().catch(unusable(config, log));
    return opened;
  });
  const own = hasAny(config.credentials);
  const { requestMs } = config;
  return {
    transport: lazyTransport({ getWithBody: false, requestMs }, async () => {
      const { inProcessTransport } = await import("../client/in-process.ts");
      const fetch = async (request: Request) => (await embedded()).fetch(request);
      return inProcessTransport({ fetch, requestMs });
    }),
    tenantId: config.tenantId ?? "demo",
    principal: own ? principalOf(config.credentials) : "demo",
    credentials: async () => (own ? config.credentials : (await embedded()).credentials),
    close: async () => opened?.close(),
  };
};

const openEmbedded = (config: Config, log: Log) => async (): Promise<Embedded> =>
  (await import("./embedded.ts")).openEmbedded(config, log);

/** The broker over a remote platform or the embedded one, as the settings say. */
export const compose = async (
  config: Config,
  log: Log,
  open: () => Promise<Embedded> = openEmbedded(config, log),
): Promise<Composed> => {
  const masterKey = masterKeyOf(config);
  const { remote, headerWord } = config;
  const parts =
    remote === undefined ? embeddedParts(config, log, open) : remoteParts(config, remote);
  const { transport, tenantId, principal, credentials } = parts;
  const client = createClient({ transport, headerWord, log });
  const vault = fileVault({ folder: folderOf(config.dataFolder).secrets, masterKey });
  const broker = createBroker({
    client,
    vault,
    headerWord,
    tenantId,
    principal,
    credentials,
    log,
    idleMs: config.lifetimes.sessionIdle,
  });
  return {
    broker,
    key: await keyFor(masterKey, log),
    async close() {
      await broker.close();
      await client.close();
      await parts.close();
    },
  };
};
