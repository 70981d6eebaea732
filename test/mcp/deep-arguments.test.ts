import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMcpListener, serve } from "../../src/server/serve.ts";
import type { CalledTool } from "../../src/mcp/tools/call-log.ts";
import { createHttpServer } from "../../src/mcp/http/http-server.ts";
import type { ServerOptions } from "../../src/mcp/server.ts";
import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { createOptions, OPEN } from "./hosts.ts";
import { FORM } from "./messages.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

type Sender = (message: string, method: string, name: string) => Promise<string>;

const CLIENT = { name: "test", version: "1" };
const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT },
});
const INITIALIZED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

const overStdio = async (front: ServerOptions, era: "2025" | "2026"): Promise<Sender> => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = startStdio(front, { input, output });
  onTestFinished(() => server.close());
  let printed = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    printed += chunk;
  });
  if (era === "2025") input.write(`${INITIALIZE}\n${INITIALIZED}\n`);
  return async (message) => {
    input.write(`${message}\n`);
    await expect.poll(() => printed, { timeout: 15_000 }).toMatch(/"id":2\b/);
    return printed.split("\n").find((line) => /"id":2\b/.test(line)) ?? "";
  };
};

const overHttp = async (front: ServerOptions, era: "2025" | "2026"): Promise<Sender> => {
  const http = createHttpServer(front, OPEN);
  const served = await serve(createMcpListener(http), { host: "127.0.0.1", port: 0 });
  onTestFinished(() => served.close());
  onTestFinished(() => http.close());
  const post = (body: string, more: Record<string, string>) =>
    fetch(`${served.url}/mcp`, { method: "POST", body, headers: { ...FORM, ...more } });
  if (era === "2026") {
    const version = { "mcp-protocol-version": "2026-07-28" };
    return async (message, method, name) =>
      (await post(message, { ...version, "mcp-method": method, "mcp-name": name })).text();
  }
  const opened = await post(INITIALIZE, {});
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await opened.text();
  await (await post(INITIALIZED, session)).text();
  return async (message) => (await post(message, session)).text();
};

const nested = (levels: number, [open, close]: readonly [string, string]): string =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

const LIST = ["[", "]"] as const;
const OBJECT = ['{"a":', "}"] as const;

const DEEP: [what: string, args: string][] = [
  ["33 lists", `{"departmentCode":${nested(33, LIST)}}`],
  ["4,000 lists", `{"departmentCode":${nested(4000, LIST)}}`],
  ["4,000 objects", `{"departmentCode":${nested(4000, OBJECT)}}`],
  ["4,000 objects in an unknown argument", `{"other":${nested(4000, OBJECT)}}`],
  ["100,000 lists", `{"departmentCode":${nested(100_000, LIST)}}`],
];

describe.each([
  ["stdio", "2025", overStdio],
  ["stdio", "2026", overStdio],
  ["HTTP", "2025", overHttp],
  ["HTTP", "2026", overHttp],
] as const)("a tool call over %s in the protocol of %s", (_transport, era, open) => {
  verifies("C-101");
  it.each(DEEP)("is refused and logged with arguments nested in %s", async (_what, args) => {
    const calls: CalledTool[] = [];
    const callLog = { record: async (call: CalledTool) => void calls.push(structuredClone(call)) };
    const broker = scriptBroker({ "departments.get": () => ({ departmentId: "d" }) });
    const send = await open(await createOptions(broker, { callLog }), era);
    const meta = era === "2026" ? `,"_meta":${JSON.stringify(MODERN_META)}` : "";
    const message = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"departments_get","arguments":${args}${meta}}}`;
    const answer = await send(message, "tools/call", "departments_get");
    expect(answer).toContain("invalid_request: departments_get: arguments may be nested");
    expect(answer).toContain('"isError":true');
    expect(calls).toMatchObject([{ tool: "departments_get", outcome: "invalid_request" }]);
    expect(broker.seen).toEqual([]);
  });
});

verifies("C-107");
describe("Content-Type over HTTP", () => {
  const typed = async (type: string): Promise<number> => {
    const http = createHttpServer(await createOptions(scriptBroker({})), OPEN);
    onTestFinished(() => http.close());
    const request = new Request("http://127.0.0.1/mcp", {
      method: "POST",
      body: INITIALIZE,
      headers: {
        "content-type": type,
        accept: "application/json, text/event-stream",
        host: "127.0.0.1",
      },
    });
    const response = await http.fetch(request);
    await response.text();
    return response.status;
  };

  it.each([
    "application/json; charset=utf-16",
    "application/json;charset=UTF-16LE",
    'application/json; charset="utf-16"',
    "application/json; CHARSET = iso-8859-1",
    "application/json; charset=utf-8; charset=utf-16",
    'application/json; charset="utf-8;utf-16"',
    "application/json; charset=",
    "application/json; charset",
  ])("is refused with 415: %s", async (type) => {
    expect(await typed(type)).toBe(415);
  });

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    'Application/JSON; Charset="UTF-8"',
    "application/json;profile=x",
  ])("is accepted: %s", async (type) => {
    expect(await typed(type)).toBe(200);
  });
});
