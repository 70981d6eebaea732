import { systemClock } from "../kit/clock.ts";
import { randomId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createCallLog } from "../mcp/tools/call-log.ts";
import type { Caller } from "../mcp/caller.ts";
import type { ToolContext } from "../mcp/tools/tool-context.ts";
import type { Composed } from "./compose.ts";
import type { Config } from "./config.ts";
import { createLazyTransfers } from "./transfers.ts";

/** Creates the context of the MCP server's tool calls. */
export const createMcpNeeds = (
  config: Pick<Config, "localAudit" | "mcp" | "remote" | "requestMs" | "uploadFolders">,
  { broker, key, replayGuard }: Pick<Composed, "broker" | "key" | "replayGuard">,
  { log, transport, caller }: { log: Log; transport: "stdio" | "http"; caller: Caller },
): ToolContext => ({
  caller: caller.id,
  broker,
  key,
  replayGuard,
  callLog: createCallLog({ path: config.localAudit, door: transport, key, now: systemClock, log }),
  log,
  now: systemClock,
  newId: randomId,
  settings: config.mcp,
  transfers: createLazyTransfers(config),
  // Over HTTP the host and its files may be on another machine.
  uploadFolders: transport === "stdio" ? config.uploadFolders : [],
});
