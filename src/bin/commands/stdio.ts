import { createLog, type Log } from "../../kit/log.ts";
import { waitAtMost } from "../../kit/wait.ts";
import type { ServerOptions } from "../../mcp/server.ts";
import { startStdio } from "../../mcp/stdio/stdio.ts";
import type { Composed } from "../compose.ts";
import { untilEnded } from "../ended.ts";
import type { Io } from "../io.ts";

// A host that has let go waits a second at most before it kills.
const GOODBYE_MS = 500;

/** A server's way to the platform. Its code is loaded when it is taken: many a host only lists what there is. */
const wayIn = (io: Io, log: Log): { open: ServerOptions["open"]; close(): Promise<void> } => {
  let composed: Composed | undefined;
  return {
    async open(caller) {
      const { compose } = await import("../compose.ts");
      const { mcpNeeds } = await import("../mcp.ts");
      const { withProfile } = await import("../profile.ts");
      const config = await withProfile(io.config);
      composed = await compose(config, log);
      return mcpNeeds(config, composed, { log, door: "stdio", caller });
    },
    close: async () => composed?.close(),
  };
};

const TO_A_PERSON =
  "This is the MCP server: it waits on standard input for a host such as Claude Desktop. Ctrl-C ends it; --help names the other commands.";

/** The MCP server for one host, until it lets go or a signal comes. */
export const stdio = async (io: Io): Promise<void> => {
  const { config, version } = io;
  const log = createLog(config.level);
  const { open, close } = wayIn(io, log);
  if (io.ask !== undefined) io.tell(TO_A_PERSON);
  const server = startStdio({ settings: config.mcp, version, log, open });
  await Promise.race([server.closed, untilEnded(io.ended)]);
  await waitAtMost(GOODBYE_MS, Promise.all([server.close(), close()]));
};
