import { type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import type { Served } from "../../src/server/serve.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { serveLocally } from "../serving.ts";
import { makeDispute } from "../dispute.ts";

const DISPUTE = makeDispute(1);

const answer = () => ({
  content: [{ type: "text" as const, text: JSON.stringify(DISPUTE) }],
  structuredContent: DISPUTE,
});

/** The least that answers over HTTP: it reads JSON and writes JSON. */
export const serveLoop = (): Promise<Served> => {
  const listener: RequestListener = async (request, response) => {
    const { id } = JSON.parse(await text(request)) as { id: number };
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: answer() }));
  };
  return serveLocally(listener);
};

const names = toolList({ toolsets: toolsetNames, readOnly: false }).map(({ name }) => name);
const inputSchema = { disputeId: z.string() };

const build = (): McpServer => {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  for (const name of names) server.registerTool(name, { inputSchema }, answer);
  return server;
};

/** The 1.x SDK without sessions, as its examples have it: a server and a transport per request, with as many tools. */
export const serveSdk1 = (): Promise<Served> => {
  const listener: RequestListener = async (request, response) => {
    const server = build();
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on("close", () => {
      void transport.close();
      void server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response);
  };
  return serveLocally(listener);
};
