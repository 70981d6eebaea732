import {
  createRequestStateCodec,
  InMemoryServerEventBus,
  McpServer,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { createMcpListener, serve, type Served } from "../../../src/server/serve.ts";
import { silentLog } from "../../../src/kit/log.ts";
import { createOpenGate } from "../../../src/mcp/http/gate.ts";
import { createOwnCaller } from "../../../src/mcp/caller.ts";
import { createTransport } from "../../../src/mcp/http/http-server.ts";
import { createScopeChecks } from "../../../src/mcp/http/scopes.ts";
import { addAsking } from "./asking.ts";
import { said } from "./content.ts";
import { addPrompts, addResources, addUtilities } from "./rest.ts";
import { addRounds } from "./rounds.ts";
import { addTools } from "./tools.ts";

const VISITOR = createOwnCaller("default");
const LIST_CHANGED = { listChanged: true };

const CAPABILITIES = {
  tools: LIST_CHANGED,
  prompts: LIST_CHANGED,
  resources: { subscribe: true, ...LIST_CHANGED },
  logging: {},
  completions: {},
};

const addTriggers = (server: McpServer, publish: (event: ServerEvent) => void): void => {
  for (const list of ["tool", "prompt"] as const) {
    server.registerTool(
      `test_trigger_${list}_change`,
      {
        description: `Tells listeners that the list of ${list}s has changed.`,
        inputSchema: z.object({}),
      },
      () => {
        publish({ kind: `${list}s_list_changed` });
        return said("Told.");
      },
    );
  }
};

/** Serves the tools of the official conformance suite over the real transports. */
export const serveConformance = async (): Promise<Pick<Served, "url" | "close">> => {
  const codec = createRequestStateCodec<Record<string, unknown>>({
    key: crypto.getRandomValues(new Uint8Array(32)),
  });
  const bus = new InMemoryServerEventBus();
  const build = () => {
    const server = new McpServer(
      { name: "conformance", version: "1.0.0" },
      { capabilities: CAPABILITIES, requestState: { verify: codec.verify } },
    );
    addTools(server);
    addAsking(server);
    addRounds(server, codec);
    addTriggers(server, (event) => {
      bus.publish(event);
    });
    addResources(server);
    addPrompts(server);
    addUtilities(server);
    return server;
  };
  const checks = createScopeChecks({ toolsets: [], readOnly: false });
  const transport = createTransport(
    { build, checks, log: silentLog },
    { bus, gate: createOpenGate(VISITOR) },
  );
  const served = await serve(createMcpListener(transport), { host: "127.0.0.1", port: 0 });
  return {
    url: `${served.url}/mcp`,
    async close() {
      await transport.close();
      await served.close();
    },
  };
};
