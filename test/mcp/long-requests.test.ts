import { describe, expect, it } from "vitest";
import type { Transport } from "@modelcontextprotocol/client";
import { EXPORT_RUNS, DISPUTE } from "../../src/mcp/results/resource-uris.ts";
import { verifies } from "../support/verifies.ts";
import { createOptions } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { TRANSPORTS } from "./transports.ts";

const LONG = 2_000_000;
/** No answer that refuses a request is longer, in characters. */
const MOST_ANSWERED = 8000;

const text = (start = "", unit = "x"): string => start + unit.repeat(LONG / unit.length);
const names = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`name${at}`, at]));

/** Requests with long values in each place that takes a foreign text. */
const REQUESTS: [what: string, method: string, params: () => object][] = [
  ["the name of a tool", "tools/call", () => ({ name: text(), arguments: {} })],
  [
    "the name of an argument",
    "tools/call",
    () => ({ name: "disputes_get", arguments: { [text()]: 1 } }),
  ],
  ["an argument", "tools/call", () => ({ name: "disputes_get", arguments: { disputeId: text() } })],
  ["arguments of another form", "tools/call", () => ({ name: "disputes_get", arguments: text() })],
  [
    "the address that read_resource takes",
    "tools/call",
    () => ({ name: "read_resource", arguments: { uri: text("skill://") } }),
  ],
  ["the name of a prompt", "prompts/get", () => ({ name: text() })],
  [
    "an argument of a prompt",
    "prompts/get",
    () => ({ name: "draft-reply", arguments: { kind: text(), disputeId: "D" } }),
  ],
  [
    "the name of an argument of a prompt",
    "prompts/get",
    () => ({ name: "draft-reply", arguments: { [text()]: 1 } }),
  ],
  [
    "many arguments of a prompt of another form",
    "prompts/get",
    () => ({ name: "draft-reply", arguments: names(1900) }),
  ],
  ["an address of a record", "resources/read", () => ({ uri: text(DISPUTE, "/") })],
  ["an address of a skill", "resources/read", () => ({ uri: text("skill://") })],
  ["an address of a skill with folders", "resources/read", () => ({ uri: text("skill://", "a/") })],
  ["an address of a view", "resources/read", () => ({ uri: text("ui://receivables/") })],
  ["another address", "resources/read", () => ({ uri: text("https://") })],
  ["an address in capitals", "resources/read", () => ({ uri: text("SKILL://") })],
  ["a folder of skills", "resources/directory/read", () => ({ uri: text("skill://") })],
  ["an address to watch", "resources/subscribe", () => ({ uri: text(EXPORT_RUNS) })],
  ["an address to watch no more", "resources/unsubscribe", () => ({ uri: text(EXPORT_RUNS) })],
  [
    "a text to complete",
    "completion/complete",
    () => ({
      ref: { type: "ref/prompt", name: "draft-reply" },
      argument: { name: "kind", value: text() },
    }),
  ],
  [
    "names in a completion",
    "completion/complete",
    () => ({
      ref: { type: "ref/resource", uri: text() },
      argument: { name: text(), value: "" },
      context: { arguments: { [text()]: "x" } },
    }),
  ],
  ["a cursor of a list", "tools/list", () => ({ cursor: text() })],
  ["the level of a log", "logging/setLevel", () => ({ level: text() })],
  ["a method", "", () => ({})],
];

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "long", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

type Raw = {
  /** Sends a request as it is; returns the text of its answer. */
  request(method: string, params: object): Promise<string>;
  notify(method: string): Promise<unknown>;
  close(): Promise<void>;
};

const openStdio = async (transport: Transport): Promise<Raw> => {
  const waiting = new Map<unknown, (answer: string) => void>();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  transport.onmessage = (message) => {
    if ("id" in message) waiting.get(message.id)?.(JSON.stringify(message));
  };
  await transport.start();
  let last = 0;
  return {
    async request(method, params) {
      const id = (last += 1);
      const { promise, resolve } = Promise.withResolvers<string>();
      waiting.set(id, resolve);
      await transport.send({ jsonrpc: "2.0", id, method, params: { ...params } });
      return promise;
    },
    notify: (method) => transport.send({ jsonrpc: "2.0", method }),
    close: () => transport.close(),
  };
};

/** Headers of more than some kilobytes are refused before the server sees them. */
const cut = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : "");

const openHttp = (url: string, era: string): Raw => {
  let session: string | null = null;
  const post = async (message: {
    id?: number;
    method: string;
    params?: object;
  }): Promise<string> => {
    const { name, uri } = (message.params ?? {}) as Record<string, unknown>;
    const own = {
      "Mcp-Protocol-Version": era,
      "Mcp-Method": cut(message.method),
      ...(name === undefined && uri === undefined ? {} : { "Mcp-Name": cut(name ?? uri) }),
      ...(session === null ? {} : { "Mcp-Session-Id": session }),
    };
    const accept = "application/json, text/event-stream";
    const headers = { "Content-Type": "application/json", Accept: accept, ...own };
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    session ??= response.headers.get("mcp-session-id");
    return response.text();
  };
  let last = 0;
  return {
    request: (method, params) => post({ id: (last += 1), method, params }),
    notify: (method) => post({ method }),
    async close() {},
  };
};

verifies("C-114");
describe.each(TRANSPORTS)("requests with long values over %s", (door, serve) => {
  it.each(["2025-11-25", "2026-07-28"])(
    "are refused in short (%s)",
    async (era) => {
      const served = await serve(await createOptions(scriptBroker({}), {}));
      const raw =
        served.url === undefined ? await openStdio(served.transport()) : openHttp(served.url, era);
      const isOld = era.startsWith("2025");
      if (isOld) {
        const clientInfo = { name: "long", version: "1" };
        await raw.request("initialize", { protocolVersion: era, capabilities: {}, clientInfo });
        await raw.notify("notifications/initialized");
      }
      const long: string[] = [];
      for (const [what, method, params] of REQUESTS) {
        const answer = await raw.request(
          method === "" ? text("tools/") : method,
          isOld ? params() : { ...params(), _meta: META },
        );
        // The list of tools is longer, and has nothing of the request.
        const isLong = answer.length > MOST_ANSWERED && method !== "tools/list";
        if (answer === "" || isLong || answer.includes("x".repeat(MOST_ANSWERED)))
          long.push(`${what}: ${answer.length}`);
      }
      expect(long, door).toEqual([]);
      await raw.close();
      await served.close();
    },
    60_000,
  );
});
