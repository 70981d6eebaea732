import { systemClock } from "../kit/clock.ts";
import { randomId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Needs } from "../mcp/needs.ts";
import { createSpentFolder } from "../mcp/spent.ts";
import type { Composed } from "./compose.ts";
import type { Config } from "./config.ts";
import { folderOf } from "./folder.ts";

/** What the MCP server's calls are made with. */
export const mcpNeeds = (
  config: Pick<Config, "dataFolder" | "mcp">,
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
});
