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
import { type BuildServer, createBuildServer } from "../../../src/mcp/server.ts";
import { toolsetNames } from "../../../tools/toolsets.ts";
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

/** Serves this server itself, for scenarios that need no platform. */
export const serveOwn = (): Promise<Address> => {
  const build = createBuildServer({
    settings: {
      toolsets: toolsetNames,
      readOnly: false,
      confirm: "token",
      answerTokens: 6000,
      callsPerMinute: 0,
    },
    version: "1.0.0",
    log: silentLog,
    open: () => Promise.reject(new Error("unexpected call of the platform")),
  });
  return serveBuilt(build, new InMemoryServerEventBus());
};

/** Serves the tools of the official conformance suite over the real transports. */
export const serveConformance = async (): Promise<Address> => {
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
  return serveBuilt(build, bus);
};

type Address = Pick<Served, "url" | "close">;

const serveBuilt = async (build: BuildServer, bus: InMemoryServerEventBus): Promise<Address> => {
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
