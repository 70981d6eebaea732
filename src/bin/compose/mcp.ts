import type { TransferNeeds, Transfers } from "../../client/transfers.ts";
import { systemClock } from "../../kit/clock.ts";
import { randomId } from "../../kit/ids.ts";
import { createLazy } from "../../kit/lazily.ts";
import type { Log } from "../../kit/log.ts";
import { createNetworks } from "../../kit/network.ts";
import { createResolve } from "../../kit/resolve.ts";
import { createCallLog } from "../../mcp/tools/call-log.ts";
import type { Caller } from "../../mcp/caller.ts";
import type { ToolContext } from "../../mcp/tools/tool-context.ts";
import type { Composed } from "./compose.ts";
import type { Config } from "../../config/config.ts";

/**
 * Whether a URL belongs to the configured platform, and is protected by TLS if the platform's address is; the embedded
 * platform signs URLs of this process.
 */
const isOwn = ({ remote }: Pick<Config, "remote">): TransferNeeds["isOwn"] => {
  if (remote === undefined) return () => true;
  const bases = [remote.gateway, remote.export].map((base) => new URL(base));
  return ({ host, protocol }) =>
    bases.some((base) => base.host === host && ["https:", base.protocol].includes(protocol));
};

/** Creates file transfers; their code is loaded at the first one. */
export const createLazyTransfers = (config: Pick<Config, "remote" | "requestMs">): Transfers => {
  const open = createLazy(async () => {
    const { createTransfers } = await import("../../client/transfers.ts");
    const { requestMs } = config;
    const hosts = { resolve: createResolve(), allowed: createNetworks([]) };
    return createTransfers({ isOwn: isOwn(config), requestMs, ...hosts });
  });
  return {
    put: async (url, file, signal) => (await open()).put(url, file, signal),
    get: async (url, options, signal) => (await open()).get(url, options, signal),
  };
};

/** Creates the context of the MCP server's tool calls. */
export const createMcpNeeds = (
  config: Pick<
    Config,
    "localAudit" | "mcp" | "remote" | "requestMs" | "saveFolder" | "uploadFolders"
  >,
  { broker, key, replayGuard, saved }: Pick<Composed, "broker" | "key" | "replayGuard" | "saved">,
  { log, transport, caller }: { log: Log; transport: "stdio" | "http"; caller: Caller },
): ToolContext => ({
  caller: caller.id,
  broker,
  key,
  replayGuard,
  saved,
  callLog: createCallLog({ path: config.localAudit, transport, key, now: systemClock, log }),
  log,
  now: systemClock,
  newId: randomId,
  settings: config.mcp,
  transfers: createLazyTransfers(config),
  saveFolder: transport === "stdio" ? config.saveFolder : undefined,
  // Over HTTP the host and its files may be on another machine.
  uploadFolders: transport === "stdio" ? config.uploadFolders : [],
});
