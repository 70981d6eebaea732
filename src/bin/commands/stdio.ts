import { createLog } from "../../kit/log.ts";
import { startStdio } from "../../mcp/stdio.ts";
import { compose } from "../compose.ts";
import { untilEnded, within } from "../ended.ts";
import type { Io } from "../io.ts";
import { mcpNeeds } from "../mcp.ts";

// A host that has let go waits a second at most before it kills.
const GOODBYE_MS = 500;

/** The MCP server for one host, until it lets go or a signal comes. */
export const stdio = async (io: Io): Promise<void> => {
  const log = createLog(io.config.level);
  const composed = await compose(io.config, log);
  const server = startStdio(mcpNeeds(io, composed, log));
  await Promise.race([server.closed, untilEnded(io.ended)]);
  await within(GOODBYE_MS, Promise.all([server.close(), composed.close()]));
};
