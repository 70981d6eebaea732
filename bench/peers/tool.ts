import { readFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** One tool that does nothing but answer, on the SDK that the real server is built on. */
const answer = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Record<string, unknown>;

serveStdio(() => {
  const server = new McpServer({ name: "tool", version: "1.0.0" });
  const inputSchema = z.object({ disputeId: z.string() });
  server.registerTool("disputes_get", { inputSchema }, async () => ({
    content: [{ type: "text", text: JSON.stringify(answer) }],
    structuredContent: answer,
  }));
  return server;
});
