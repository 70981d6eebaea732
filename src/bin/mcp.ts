import { systemClock } from "../kit/clock.ts";
import { randomId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Needs } from "../mcp/needs.ts";
import { createSpentFolder } from "../mcp/spent.ts";
import type { Composed } from "./compose.ts";
import { folderOf } from "./folder.ts";
import type { Io } from "./io.ts";

/** What the MCP server is made of. */
export const mcpNeeds = (
  { config, version }: Pick<Io, "config" | "version">,
  { broker, key }: Composed,
  log: Log,
): Needs => ({
  broker,
  key,
  spent: createSpentFolder(folderOf(config.dataFolder).spent, systemClock),
  log,
  now: systemClock,
  newId: randomId,
  settings: config.mcp,
  version,
});
