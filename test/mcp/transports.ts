import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createMcpListener, serve } from "../../src/server/serve.ts";
import { createHttpServer } from "../../src/mcp/http/http-server.ts";
import type { ServerOptions } from "../../src/mcp/server.ts";
import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { OPEN, type Result } from "./hosts.ts";
import { sharedValidators } from "../support/shared-validators.ts";

/** A server behind one transport, and its address. */
export type ServedTransport = {
  url: string | undefined;
  transport(): Transport;
  /** Returns the URL of the server, or the command that starts it. */
  target(): Promise<string[]>;
  close(): Promise<void>;
};

const createStreamTransport = (input: PassThrough, output: PassThrough): Transport => {
  let unread = "";
  const transport: Transport = {
    async start() {
      output.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (unread + chunk).split("\n");
        unread = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
    },
    async send(message) {
      if (!input.write(`${JSON.stringify(message)}\n`)) await once(input, "drain");
    },
    async close() {
      input.end();
      transport.onclose?.();
    },
  };
  return transport;
};

const RELAY = fileURLToPath(new URL("../support/relay.ts", import.meta.url));

/** Returns a command; for each program started with it, a new server runs in this process. */
const createCommand = async (
  front: ServerOptions,
  ends: (() => Promise<unknown>)[],
): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), "transport-"));
  const path = join(folder, "socket");
  const sockets = createServer((socket) => {
    const server = startStdio(front, { input: socket, output: socket });
    socket.on("error", () => {}).on("close", () => void server.close());
  });
  await once(sockets.listen(path), "listening");
  ends.push(
    async () => rm(folder, { recursive: true, force: true }),
    async () => new Promise((resolve) => sockets.close(resolve)),
  );
  return [process.execPath, RELAY, path];
};

const serveOverStdio = async (front: ServerOptions): Promise<ServedTransport> => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = startStdio(front, { input, output });
  const ends: (() => Promise<unknown>)[] = [() => server.close()];
  return {
    url: undefined,
    transport: () => createStreamTransport(input, output),
    target: () => createCommand(front, ends),
    async close() {
      for (const end of ends.toReversed()) await end();
    },
  };
};

export const serveOverHttp = async (front: ServerOptions): Promise<ServedTransport> => {
  const http = createHttpServer(front, OPEN);
  const served = await serve(createMcpListener(http), { host: "127.0.0.1", port: 0 });
  const url = `${served.url}/mcp`;
  return {
    url,
    transport: () => new StreamableHTTPClientTransport(new URL(url)),
    target: async () => [url],
    async close() {
      const closed = served.close();
      await http.close();
      await closed;
    },
  };
};

export const TRANSPORTS = [
  ["stdio", serveOverStdio],
  ["HTTP", serveOverHttp],
] as const;

export type Driver = {
  call(name: string, args: Record<string, unknown>): Promise<Result>;
  toolNames: string[];
  close(): Promise<void>;
};

const INFO = { name: "driver", version: "1.0.0" };
const YES = { action: "accept" as const, content: { confirm: true } };

type Connected = {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
};

// After it has listed the tools, a client validates structured results against their schemas.
const createDriver = async (client: Connected): Promise<Driver> => {
  const { tools } = await client.listTools();
  return {
    toolNames: tools.map(({ name }) => name),
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as Result,
    close: () => client.close(),
  };
};

type Connect = (server: ServedTransport, asks: boolean) => Promise<Driver>;

const createModernDriver =
  (mode: "legacy" | "auto"): Connect =>
  async (server, asks) => {
    const capabilities = asks ? { elicitation: { form: {} } } : {};
    const client = new Client(INFO, {
      capabilities,
      jsonSchemaValidator: sharedValidators,
      versionNegotiation: { mode },
    });
    if (asks) client.setRequestHandler("elicitation/create", () => YES);
    await client.connect(server.transport());
    return createDriver(client);
  };

const connectOldDriver: Connect = async (server, asks) => {
  const client = new OldClient(INFO, { capabilities: asks ? { elicitation: {} } : {} });
  if (asks) client.setRequestHandler(ElicitRequestSchema, () => YES);
  const transport =
    server.url === undefined ? server.transport() : new OldTransport(new URL(server.url));
  await client.connect(transport);
  return createDriver(client);
};

/** The SDK clients that hosts use, by protocol era. */
export const CLIENTS = [
  ["2.x client, 2026", createModernDriver("auto")],
  ["2.x client, 2025", createModernDriver("legacy")],
  ["1.x client", connectOldDriver],
] as const;
