import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseIfJson } from "../../kit/json.ts";
import { callLogFiles } from "../../mcp/tools/call-log.ts";
import type { Io } from "./io.ts";

const isEntry = (value: unknown): value is { tool: string; outcome: string } =>
  typeof value === "object" && value !== null && "tool" in value;

/** Prints the MCP server's own log of tool calls, oldest first. */
export const printAudit = async (
  { config, print, notify }: Io,
  { tool }: { tool?: string | undefined },
): Promise<void> => {
  let shown = 0;
  for (const file of await callLogFiles(config.localAudit)) {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      // A process that was killed while writing leaves an incomplete line.
      const entry = parseIfJson(line);
      if (isEntry(entry) && (tool === undefined || entry.tool === tool)) {
        shown += 1;
        print(entry);
      }
    }
  }
  if (shown === 0) notify(`${config.localAudit} has no such call yet.`);
};
