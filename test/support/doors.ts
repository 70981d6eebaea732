import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { vi } from "vitest";
import { compose } from "../../src/bin/compose.ts";
import { readConfig } from "../../src/bin/config.ts";
import { mcpNeeds } from "../../src/bin/mcp.ts";
import { mcpListener, serve } from "../../src/bin/serve.ts";
import { createLog } from "../../src/kit/log.ts";
import { type Caller, openGate, ownCaller } from "../../src/mcp/gate.ts";
import { createHttp } from "../../src/mcp/http.ts";
import type { Result } from "../mcp/hosts.ts";
import { startCli } from "./cli.ts";

type Env = Record<string, string>;

/** A host at one of the server's doors. */
export type Door = {
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
  /** What the server has written beside its answers: over stdio, that and its answers. */
  texts: { stdout: string; stderr: string };
  close(): Promise<void>;
};

const PARAMS = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

// A line may be there in part.
const idIn = (line: string): number | undefined => {
  try {
    return (JSON.parse(line) as { id?: number }).id;
  } catch {
    return undefined;
  }
};

const answerIn = (stdout: string, id: number): unknown => {
  const line = stdout.split("\n").findLast((one) => one.endsWith("}") && idIn(one) === id);
  if (line === undefined) throw new Error(`no answer to ${id} yet`);
  return (JSON.parse(line) as { result?: unknown }).result;
};

/** A server process, spoken to line by line. */
export const stdioDoor = async (env: Env): Promise<Door> => {
  const server = startCli([], env);
  let last = 0;
  const ask = async (method: string, params: object): Promise<unknown> => {
    last += 1;
    const id = last;
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return vi.waitFor(() => answerIn(server.texts.stdout, id), { timeout: 50_000, interval: 20 });
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

/** The server behind a port, for whoever comes, with a host on the 2.x SDK. */
export const httpDoor = async (env: Env): Promise<Door> => {
  const config = readConfig({
    env,
    readFile: (path) => readFileSync(path, "utf8"),
    dataFolder: "nowhere",
  });
  const texts = { stdout: "", stderr: "" };
  const log = createLog(config.level, (line) => {
    texts.stderr += line;
  });
  const composed = await compose(config, log);
  const open = async (caller: Caller) => mcpNeeds(config, composed, { log, door: "http", caller });
  const front = { settings: config.mcp, version: "1.2.3", log, open };
  const mcp = createHttp(front, { gate: openGate(ownCaller(config.profile)) });
  const served = await serve(mcpListener(mcp), { host: "127.0.0.1", port: 0 });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
  return {
    texts,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result,
    async close() {
      await client.close();
      await mcp.close();
      await served.close();
      await composed.close();
    },
  };
};
