import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { vi } from "vitest";
import type { Result } from "../mcp/hosts.ts";
import { startCli, whenReady } from "./cli.ts";

type Env = Record<string, string>;

/** A host that is connected to the server over one of its transports. */
export type ServerProcess = {
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
  /** The output of the server's process. */
  texts: { stdout: string; stderr: string };
  close(): Promise<void>;
};

const PARAMS = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

// The last line may be incomplete.
const parseId = (line: string): number | undefined => {
  try {
    return (JSON.parse(line) as { id?: number }).id;
  } catch {
    return undefined;
  }
};

const findResult = (stdout: string, id: number): unknown => {
  const line = stdout.split("\n").findLast((one) => one.endsWith("}") && parseId(one) === id);
  if (line === undefined) throw new Error(`no answer to ${id} yet`);
  return (JSON.parse(line) as { result?: unknown }).result;
};

/** Starts a server process that is used line by line. */
export const startStdioProcess = async (env: Env): Promise<ServerProcess> => {
  const server = startCli([], env);
  let last = 0;
  const ask = async (method: string, params: object): Promise<unknown> => {
    last += 1;
    const id = last;
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return vi.waitFor(() => findResult(server.texts.stdout, id), { timeout: 50_000, interval: 20 });
  };
  await ask("initialize", PARAMS);
  return {
    texts: server.texts,
    call: async (name, args = {}) => (await ask("tools/call", { name, arguments: args })) as Result,
    async close() {
      await server.end("stdin");
    },
  };
};

const TOKEN = "token-of-a-test".repeat(3);

/** Starts an HTTP server process that requires a token, with a host on the 2.x SDK. */
export const startHttpProcess = async (env: Env): Promise<ServerProcess> => {
  const folder = await mkdtemp(join(tmpdir(), "door-"));
  const tokens = join(folder, "tokens");
  await writeFile(tokens, `${TOKEN} default read,write,admin\n`, { mode: 0o600 });
  const more = { RECEIVABLES_HTTP_TOKENS_FILE: tokens, RECEIVABLES_HTTP_AUTH: "static" };
  const server = startCli(["http", "--port", "0"], { ...env, ...more });
  const { mcpUrl = "" } = await whenReady(server);
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
  return {
    texts: server.texts,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result,
    async close() {
      await client.close();
      await server.end("SIGTERM");
      await rm(folder, { recursive: true });
    },
  };
};
