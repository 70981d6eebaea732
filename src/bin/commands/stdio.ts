import { createLog, type Log } from "../../kit/log.ts";
import { waitAtMost } from "../../kit/wait.ts";
import type { ServerOptions } from "../../mcp/server.ts";
import { startStdio } from "../../mcp/stdio/stdio.ts";
import type { Composed } from "../compose/compose.ts";
import { waitForAbort } from "../../kit/abort.ts";
import type { Config } from "../../config/config.ts";
import { withExportKey } from "../compose/export-key.ts";
import type { Io } from "./io.ts";

// Hosts send SIGKILL one second after they close stdin.
const CLOSE_TIMEOUT_MS = 500;
/** The time for running calls after a signal, which hosts follow up with SIGKILL after two seconds. */
const ANSWER_TIMEOUT_MS = 1000;

/** Connects to the platform at the first call; the code is loaded then, as many hosts only list tools. */
const createLazyNeeds = (
  given: Config,
  log: Log,
): Pick<ServerOptions, "open"> & { close(): Promise<void> } => {
  let composed: Composed | undefined;
  return {
    async open(caller) {
      const { compose } = await import("../compose/compose.ts");
      const { createMcpNeeds } = await import("../compose/mcp.ts");
      const { withProfile } = await import("../compose/profile.ts");
      const { optimizeEarly } = await import("./v8-flags.ts");
      const config = await withProfile(given);
      composed = await compose(config, log);
      optimizeEarly();
      return createMcpNeeds(config, composed, { log, transport: "stdio", caller });
    },
    close: async () => composed?.close(),
  };
};

const TERMINAL_HINT =
  "This is the MCP server: it waits on standard input for a host such as Claude Desktop. Ctrl-C ends it; --help names the other commands.";

/** Serves MCP over stdio until the host closes stdin or a signal arrives. */
export const serveStdio = async (io: Io): Promise<void> => {
  const { version } = io;
  const ended = io.takeSignals();
  const config = await withExportKey(io.config, "stdio");
  const log = createLog(config.level);
  const { close, ...needs } = createLazyNeeds(config, log);
  if (io.ask !== undefined) io.notify(TERMINAL_HINT);
  const server = startStdio({ settings: config.mcp, version, log, ...needs });
  const signalled = waitForAbort(ended).then(() => waitAtMost(ANSWER_TIMEOUT_MS, server.finish()));
  await Promise.race([server.closed, signalled]);
  await waitAtMost(CLOSE_TIMEOUT_MS, Promise.all([server.close(), close()]));
};
