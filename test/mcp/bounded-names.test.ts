import { describe, expect, it } from "vitest";
import { MAX_ID_LENGTH } from "../../src/mcp/message-ids.ts";
import type { HttpOptions } from "../../src/mcp/http/http-server.ts";
import { VIEWS_SUPPORT } from "../../src/views/views.ts";
import { ask } from "../support/raw-http.ts";
import { verifies } from "../support/verifies.ts";
import { createOptions, OPEN } from "./hosts.ts";
import { FORM, HELLO, META, START } from "./messages.ts";
import { openHttp, openStdio } from "./opened.ts";
import { scriptBroker } from "./script.ts";

const LONG = "x".repeat(1_500_000);
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };

type Send = (message: string, method: string) => Promise<string>;

const options = () => createOptions(scriptBroker({}));

/** The ways in: each transport with each era of the protocol. */
const DOORS: [string, object, () => Promise<Send>][] = [
  [
    "HTTP, 2026",
    META,
    async () => {
      const url = await openHttp(await options());
      return async (message, method) => {
        const headers = {
          ...FORM,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method.slice(0, 100),
        };
        return (await ask(url, { method: "POST", headers, body: message })).text;
      };
    },
  ],
  [
    "HTTP, 2025",
    {},
    async () => {
      const url = await openHttp(await options());
      const hello = await fetch(url, {
        method: "POST",
        headers: FORM,
        body: JSON.stringify(HELLO),
      });
      const headers = { ...FORM, "mcp-session-id": hello.headers.get("mcp-session-id") ?? "" };
      await hello.text();
      return async (message) => (await ask(url, { method: "POST", headers, body: message })).text;
    },
  ],
  ...[META, {}].map((meta): [string, object, () => Promise<Send>] => [
    meta === META ? "stdio, 2026" : "stdio, 2025",
    meta,
    async () => {
      const stdio = openStdio(await options());
      const begun = meta === META ? [] : [HELLO, INITIALIZED];
      for (const message of begun) stdio.input.write(`${JSON.stringify(message)}\n`);
      return async (message) => {
        const before = stdio.lines().length;
        stdio.input.write(`${message}\n`);
        // oxlint-disable-next-line vitest/no-standalone-expect -- called by tests
        await expect.poll(() => stdio.lines().length, { timeout: 5000 }).toBeGreaterThan(before);
        return stdio.lines().at(-1) ?? "";
      };
    },
  ]),
];

const write = (id: string, meta: object, method = "tools/list", params: object = {}): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify({ ...params, _meta: meta })}}`;

verifies("HS-05", "C-114");
describe.each(DOORS)("a name that answers repeat (%s)", (_door, meta, open) => {
  it.each([
    ["a text of 1.5 MB", JSON.stringify(LONG)],
    ["a text of one character too many", JSON.stringify("x".repeat(MAX_ID_LENGTH + 1))],
    ["a number of too many digits", "7".repeat(MAX_ID_LENGTH + 1)],
    ["a fraction of 1.5 MB", `0.${"7".repeat(1_500_000)}`],
  ])("is refused without being repeated, as an id: %s", async (_what, id) => {
    const send = await open();
    for (const text of [write(id, meta), `{"id":${id},"method":7}`]) {
      const answer = await send(text, "tools/list");
      expect(answer.length).toBeLessThan(500);
      expect(answer).toContain('"id":null');
      expect(answer).toContain('"code":-32600');
    }
  });

  it("is refused with the length that it may have", async () => {
    const id = JSON.stringify("x".repeat(MAX_ID_LENGTH + 1));
    const answer = await (await open())(write(id, meta), "tools/list");
    expect(answer).toContain(`The member id must have at most ${MAX_ID_LENGTH} characters.`);
  });

  it.each([
    ["a text of 1.5 MB in what is no JSON", `{"id":${JSON.stringify(LONG)},,`],
    ["a number of 1.5 MB in what is no JSON", `{"id":${"7".repeat(1_500_000)},,`],
  ])("is not repeated as an id: %s", async (_what, text) => {
    const answer = await (await open())(text, "tools/list");
    expect(answer.length).toBeLessThan(500);
    expect(answer).toContain('"id":null');
  });

  it.each([
    ["a text as long as an id may be", JSON.stringify("é".repeat(MAX_ID_LENGTH))],
    ["20 digits", "12345678901234567890"],
    ["a fraction", "1.50"],
  ])("is repeated as it was sent, as an id: %s", async (_what, id) => {
    const answer = await (await open())(write(id, meta, "prompts/list"), "prompts/list");
    expect(answer).toContain(`"id":${id}`);
    expect(answer).toContain('"result"');
  });

  it("is read in escape sequences, as the id of a message that is no JSON", async () => {
    const escaped = `"${"\\u00e9".repeat(MAX_ID_LENGTH)}"`;
    const answer = await (await open())(`{"id":${escaped},,`, "tools/list");
    expect(answer).toContain(`"id":"${"é".repeat(MAX_ID_LENGTH)}"`);
  });

  const NAMES: [what: string, method: string, params: object][] = [
    ["a method", LONG, {}],
    ["a tool", "tools/call", { name: LONG }],
    ["a prompt", "prompts/get", { name: LONG }],
    ["a resource", "resources/read", { uri: LONG }],
    ["a template", "completion/complete", { ref: { type: "ref/resource", uri: LONG } }],
    ["a cursor", "prompts/list", { cursor: LONG }],
    ["a resource to listen to", "subscriptions/listen", listenTo([LONG])],
    ["a version", "initialize", { ...START, protocolVersion: LONG }],
    ["any member", "prompts/list", { [LONG]: LONG.slice(0, 9) }],
  ];
  it.each(NAMES)("is not repeated as the name of %s", async (_what, method, params) => {
    const answer = await (await open())(write("1", meta, method, params), method);
    expect(answer).toContain('"id":1');
    expect(answer.length).toBeLessThan(20_000);
  });

  it.each([
    ["a progress token", { progressToken: LONG }],
    ["a version", { "io.modelcontextprotocol/protocolVersion": LONG }],
    [
      "the name of a host",
      { "io.modelcontextprotocol/clientInfo": { name: LONG, version: "1", title: LONG } },
    ],
    ["a capability", { "io.modelcontextprotocol/clientCapabilities": { [LONG]: {} } }],
    ["any member", { [LONG]: 1 }],
  ])("is not repeated as %s in _meta", async (_what, more) => {
    const message = write("1", { ...meta, ...more }, "prompts/list");
    const answer = await (await open())(message, "prompts/list");
    expect(answer).toContain('"id":1');
    expect(answer.length).toBeLessThan(20_000);
  });
});

function listenTo(resourceSubscriptions: string[]): object {
  return { notifications: { resourceSubscriptions } };
}

verifies("C-114");
describe("a session", () => {
  it("stores what servers read of its host, and no more", async () => {
    const added: string[] = [];
    const shared = {
      sessions: {
        add: async (_id: string, record: object) => void added.push(JSON.stringify(record)),
      },
      changes: { watch: () => () => {}, announce: async () => {}, close: async () => {} },
    } as unknown as NonNullable<HttpOptions["shared"]>;
    const url = await openHttp(await options(), { ...OPEN, shared });
    const capabilities = {
      elicitation: { form: { [LONG.slice(0, 9)]: LONG }, url: {} },
      extensions: { ...VIEWS_SUPPORT, other: { a: LONG } },
      experimental: { [LONG]: {} },
    };
    const clientInfo = { name: LONG, version: LONG.slice(0, 300), title: "T" };
    const params = { ...START, capabilities, clientInfo };
    const body = JSON.stringify({ ...HELLO, params }).replaceAll(LONG, LONG.slice(0, 300_000));
    const response = await fetch(url, { method: "POST", headers: FORM, body });
    expect(response.status).toBe(200);
    await response.text();
    expect(added).toHaveLength(1);
    expect(JSON.parse(added[0] ?? "")).toMatchObject({
      initialize: {
        protocolVersion: START.protocolVersion,
        capabilities: { elicitation: { form: {}, url: {} }, extensions: VIEWS_SUPPORT },
        clientInfo: { name: "x".repeat(255), version: "x".repeat(255) },
      },
    });
    expect(added[0]?.length).toBeLessThan(2000);
  });
});
