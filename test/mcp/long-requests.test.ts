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

type Answer = { id?: unknown; error?: { code: number; message: string }; result?: unknown };

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "long", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Sends messages as they are, and waits for the answers by their ids. */
const openRaw = async (transport: Transport) => {
  const waiting = new Map<unknown, (answer: Answer) => void>();
  transport.onmessage = (message: unknown) => {
    const answer = message as Answer;
    waiting.get(answer.id)?.(answer);
  };
  transport.onerror = () => {};
  await transport.start();
  let last = 0;
  return {
    async request(method: string, params: object): Promise<Answer> {
      const id = (last += 1);
      const { promise, resolve } = Promise.withResolvers<Answer>();
      waiting.set(id, resolve);
      await transport.send({ jsonrpc: "2.0", id, method, params } as never);
      return promise;
    },
    notify: (method: string) => transport.send({ jsonrpc: "2.0", method } as never),
    close: () => transport.close(),
  };
};

verifies("C-114");
describe.each(TRANSPORTS)("requests with long values over %s", (door, serve) => {
  it.each(["2025-11-25", "2026-07-28"])(
    "are refused in short (%s)",
    async (era) => {
      const served = await serve(await createOptions(scriptBroker({}), {}));
      const transport = served.transport();
      const raw = await openRaw(transport);
      const isOld = era.startsWith("2025");
      if (isOld) {
        await raw.request("initialize", {
          protocolVersion: era,
          capabilities: {},
          clientInfo: { name: "long", version: "1" },
        });
        (transport as { setProtocolVersion?(version: string): void }).setProtocolVersion?.(era);
        await raw.notify("notifications/initialized");
      } else {
        (transport as { setProtocolVersion?(version: string): void }).setProtocolVersion?.(era);
      }
      const long: string[] = [];
      for (const [what, method, params] of REQUESTS) {
        const named = method === "" ? text("tools/") : method;
        const sent = isOld ? params() : { ...params(), _meta: META };
        const answer = await raw.request(named, sent);
        const length = JSON.stringify(answer).length;
        if (length > MOST_ANSWERED && method !== "tools/list") long.push(`${what}: ${length}`);
        if (length > LONG / 2) long.push(`${what}: ${length}`);
      }
      expect(long, door).toEqual([]);
      await raw.close();
      await served.close();
    },
    60_000,
  );
});
