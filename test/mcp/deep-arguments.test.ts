import { describe, expect, it, onTestFinished } from "vitest";
import type { CalledTool } from "../../src/mcp/tools/call-log.ts";
import { createHttpServer } from "../../src/mcp/http/http-server.ts";
import type { ServerOptions } from "../../src/mcp/server.ts";
import { createOptions, OPEN } from "./hosts.ts";
import { FORM, HELLO, META } from "./messages.ts";
import { openHttp, openStdio } from "./opened.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

type Sender = (message: string, method: string, name: string) => Promise<string>;

const INITIALIZE = JSON.stringify(HELLO);
const INITIALIZED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

const overStdio = async (front: ServerOptions, era: "2025" | "2026"): Promise<Sender> => {
  const { input, lines } = openStdio(front);
  if (era === "2025") input.write(`${INITIALIZE}\n${INITIALIZED}\n`);
  return async (message) => {
    input.write(`${message}\n`);
    const answer = () => lines().find((line) => /"id":2\b/.test(line));
    await expect.poll(answer, { timeout: 15_000 }).toBeDefined();
    return answer() ?? "";
  };
};

const overHttp = async (front: ServerOptions, era: "2025" | "2026"): Promise<Sender> => {
  const url = await openHttp(front);
  const post = (body: string, more: Record<string, string>) =>
    fetch(url, { method: "POST", body, headers: { ...FORM, ...more } });
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
    const meta = era === "2026" ? `,"_meta":${JSON.stringify(META)}` : "";
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
