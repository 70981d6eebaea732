import { once } from "node:events";
import { PassThrough } from "node:stream";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import type { ServerOptions } from "../../src/mcp/server.ts";
import { HANDSHAKE_VERSIONS, createHandshake } from "../../src/mcp/stdio/handshake.ts";
import { VIEW_TYPE } from "../../src/views/views.ts";
import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { serveStreams } from "../../src/mcp/stdio/stdio-server.ts";
import { createOptions, type Setup } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "ping"];

const line = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });

const greeting = (more: object = {}, id: unknown = 0) =>
  line({
    id,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: { roots: { listChanged: true }, elicitation: {} },
      clientInfo: { name: "host", version: "1", title: "A host" },
      ...more,
    },
  });

/** Capabilities of a host, which shows views if it names their type. */
const showing = (type: string) => ({
  elicitation: { form: {} },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [type] } },
});

const metaOf = (type: string) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": showing(type),
});
const META = metaOf("text/html");
const TYPES = ["text/html", VIEW_TYPE];
const discover = (more: object) =>
  line({ id: 1, method: "server/discover", params: { _meta: { ...META, ...more } } });

const INITIALIZED = line({ method: "notifications/initialized" });

/** Two connected streams; the output is read line by line. */
const wire = () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return {
    input,
    output,
    say: (...lines: string[]) => input.write(`${lines.join("\n")}\n`),
    messages: () =>
      text
        .split("\n")
        .filter((each) => each !== "")
        .map((each) => JSON.parse(each) as Record<string, unknown>),
    get written() {
      return text.split("\n").length - 1;
    },
  };
};

const frontOf = (setup: Setup = {}): Promise<ServerOptions> =>
  createOptions(scriptBroker({}), setup);

/** Returns the responses of the SDK's server, line by line. */
const fromSdk = async (front: ServerOptions, lines: string[]): Promise<unknown[]> => {
  const { input, output, say, messages } = wire();
  const server = serveStreams(
    front,
    { input, output, answered: undefined, onAnswered() {} },
    () => {},
  );
  const due = lines.filter((each) => "id" in JSON.parse(each)).length;
  say(...lines);
  await expect.poll(() => messages().length).toBe(due);
  await server.close();
  return messages();
};

/** Sorts responses, which have no fixed order. */
const byId = (messages: unknown[]): Record<string, unknown> =>
  Object.fromEntries((messages as { id: unknown }[]).map((message) => [message.id, message]));

const fromOpening = (front: ServerOptions, lines: string[]): unknown[] => {
  const opening = createHandshake(front);
  return lines.flatMap((each) => {
    const answer = opening.answer(each);
    expect(answer, each).toBeDefined();
    return answer === "" || answer === undefined ? [] : [JSON.parse(answer)];
  });
};

describe("the handshake", () => {
  it("answers initialize in every version of the SDK", () => {
    expect(HANDSHAKE_VERSIONS.toSorted()).toEqual(SUPPORTED_PROTOCOL_VERSIONS.toSorted());
  });

  it.each(HANDSHAKE_VERSIONS)("answers as the SDK in %s", async (protocolVersion) => {
    for (const settings of [
      {},
      { readOnly: true },
      { discovery: true },
      { toolsets: ["audit"] as const },
    ]) {
      const front = await frontOf({ settings });
      const params = { _meta: { progressToken: "p" } };
      const type = TYPES[HANDSHAKE_VERSIONS.indexOf(protocolVersion) % 2] ?? "";
      const lines = [
        greeting({ protocolVersion, capabilities: showing(type) }, "first"),
        INITIALIZED,
        ...LISTS.map((method, id) => line({ id, method })),
        ...LISTS.map((method) => line({ id: `again ${method}`, method, params })),
      ];
      expect(byId(fromOpening(front, lines))).toEqual(byId(await fromSdk(front, lines)));
    }
  });

  it.each(TYPES)("answers as the SDK in 2026 to a host that shows %s", async (type) => {
    const meta = metaOf(type);
    for (const settings of [
      {},
      { readOnly: true },
      { discovery: true },
      { toolsets: ["audit"] as const },
    ]) {
      const front = await frontOf({ settings });
      const lines = ["server/discover", ...LISTS.slice(0, -1)].flatMap((method, id) => [
        line({ id, method, params: { _meta: meta } }),
        line({ id: `again ${method}`, method, params: { _meta: { ...meta, progressToken: 1 } } }),
      ]);
      const [ours, theirs] = [fromOpening(front, lines), await fromSdk(front, lines)];
      expect(byId(ours)).toEqual(byId(theirs));
    }
  });

  it.each([
    ["a greeting in an unknown version", greeting({ protocolVersion: "2099-01-01" })],
    ["a greeting that says more than is known", greeting({ _meta: {} })],
    ["a greeting without a name", greeting({ clientInfo: { version: "1" } })],
    ["a greeting with odd capabilities", greeting({ capabilities: { sampling: true } })],
    ["a greeting without an id", line({ method: "initialize", params: {} })],
    ["a greeting whose id is null", greeting({}, null)],
    ["a list before any greeting", line({ id: 1, method: "tools/list" })],
    ["a note before any greeting", INITIALIZED],
    ["a probe that says less", line({ id: 1, method: "server/discover", params: { _meta: {} } })],
    ["a probe that says more", discover({ traceparent: "00-1-2-01" })],
    ["a probe in a later version", discover({ "io.modelcontextprotocol/protocolVersion": "2027" })],
    ["a probe of nobody", discover({ "io.modelcontextprotocol/clientInfo": {} })],
    [
      "a probe with odd capabilities",
      discover({ "io.modelcontextprotocol/clientCapabilities": [] }),
    ],
    ["a probe with an odd token", discover({ progressToken: {} })],
    ["a ping of 2026", line({ id: 1, method: "ping", params: { _meta: META } })],
    ["a greeting with pictures", greeting({ clientInfo: { name: "n", version: "1", icons: [] } })],
    ["a message with further parts", greeting().replace('"jsonrpc"', '"more":1,"jsonrpc"')],
    ["no JSON", "{"],
    ["no message", '"tools/list"'],
    ["several messages", `[${greeting()}]`],
    ["nothing", ""],
    ["another protocol", greeting().replace('"2.0"', '"1.0"')],
  ])("leaves %s to the server", async (_what, first) => {
    expect(createHandshake(await frontOf()).answer(first)).toBeUndefined();
  });

  it.each([
    ["a call", line({ id: 1, method: "tools/call", params: { name: "disputes_get" } })],
    ["a list in the form of 2026", line({ id: 1, method: "tools/list", params: { _meta: META } })],
    ["a list from a cursor", line({ id: 1, method: "tools/list", params: { cursor: "c" } })],
    ["a list with odd parameters", line({ id: 1, method: "tools/list", params: [] })],
    ["an unknown method", line({ id: 1, method: "toString" })],
    ["an answer", line({ id: 1, result: {} })],
    ["another note", line({ method: "notifications/cancelled", params: { requestId: 1 } })],
    ["a second greeting", greeting()],
  ])("leaves %s to the server after initialize", async (_what, next) => {
    const opening = createHandshake(await frontOf());
    expect(opening.answer(greeting())).toContain('"serverInfo"');
    expect(opening.answer(INITIALIZED)).toBe("");
    expect(opening.answer(next)).toBeUndefined();
    expect(opening.answer(INITIALIZED)).toBeUndefined();
    expect(opening.initializationLines()).toEqual([greeting(), INITIALIZED]);
  });
});

describe("handing over to the server", () => {
  const CALL = line({
    id: 7,
    method: "tools/call",
    params: { name: "departments_delete", arguments: { departmentId: "d" } },
  });

  const serve = async () => {
    const broker = scriptBroker({
      "departments.get_by_id": () => ({ code: "SALES", description: "Sales" }),
      "departments.delete": () => null,
    });
    const host = wire();
    const server = startStdio(await createOptions(broker), host);
    return { ...host, host, broker, server };
  };

  it("passes the initialization on, and the server does not answer it again", async () => {
    const { say, messages, server, broker } = await serve();
    say(greeting(), INITIALIZED, line({ id: 1, method: "tools/list" }));
    await expect.poll(() => messages().length).toBe(2);
    say(CALL);
    // The host declared in `initialize` that it can ask a person.
    await expect.poll(() => messages().at(-1)).toMatchObject({ method: "elicitation/create" });
    const { id } = messages().at(-1) ?? {};
    say(line({ id, result: { action: "accept", content: { confirm: true } } }));
    await expect.poll(() => messages().at(-1)).toMatchObject({ id: 7, result: { content: [{}] } });
    say(line({ id: 0, method: "tools/list" }));
    await expect.poll(() => messages().at(-1)).toMatchObject({ id: 0 });
    expect(messages().map((message) => message["id"])).toEqual([0, 1, id, 7, 0]);
    expect(broker.seen.map((call) => call.id)).toContain("departments.delete");
    await server.close();
  });

  verifies("HS-05");
  it("takes an answer whose id is written with a point", async () => {
    const { say, messages, server } = await serve();
    say(greeting(), INITIALIZED, CALL);
    await expect.poll(() => messages().at(-1)).toMatchObject({ method: "elicitation/create" });
    const { id } = messages().at(-1) ?? {};
    say(
      `{"jsonrpc":"2.0","id":${String(id)}.0,"result":{"action":"accept","content":{"confirm":true}}}`,
    );
    await expect.poll(() => messages().at(-1)).toMatchObject({ id: 7, result: { content: [{}] } });
    await server.close();
  });

  it("needs no initialization for a call of 2026", async () => {
    const { say, messages, server } = await serve();
    say(discover({}), line({ id: 2, method: "tools/list", params: { _meta: META } }));
    await expect.poll(() => messages().length).toBe(2);
    const { params } = JSON.parse(CALL) as { params: object };
    say(line({ id: 3, method: "tools/call", params: { ...params, _meta: META } }));
    await expect
      .poll(() => messages().at(-1))
      .toMatchObject({ id: 3, result: { resultType: "input_required" } });
    await server.close();
  });

  it("accepts a probe of 2026 before an initialization of 2025", async () => {
    const { say, messages, server } = await serve();
    say(discover({}), greeting(), INITIALIZED, CALL);
    await expect.poll(() => messages().at(-1)).toMatchObject({ method: "elicitation/create" });
    expect(messages().slice(0, 2)).toMatchObject([
      { id: 1, result: { supportedVersions: ["2026-07-28"] } },
      { id: 0, result: { protocolVersion: "2025-11-25" } },
    ]);
    await server.close();
  });

  it("loses no input that arrives at once, in pieces or while the server is loaded", async () => {
    const { input, messages, server } = await serve();
    const lines = [greeting(), INITIALIZED, line({ id: 1, method: "tools/list" }), CALL];
    const more = Array.from({ length: 20 }, (_, index) =>
      line({ id: 100 + index, method: "ping" }),
    );
    const text = [...lines, ...more, line({ id: "ümläut 😀", method: "ping" })].join("\n");
    const bytes = Buffer.from(`${text}\n`);
    for (let at = 0; at < bytes.length; at += 7) input.write(bytes.subarray(at, at + 7));
    await expect.poll(() => messages().some(({ id }) => id === "ümläut 😀")).toBe(true);
    const ids = messages().map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual([0, 1]);
    for (let id = 100; id < 120; id += 1) expect(ids).toContain(id);
    await server.close();
  });

  it("passes a long first line on unchanged", async () => {
    const { say, messages, server } = await serve();
    say(greeting({ clientInfo: { name: "x".repeat(100_000), version: "1" } }));
    await expect.poll(() => messages()).toMatchObject([{ id: 0, result: { serverInfo: {} } }]);
    await server.close();
  });

  it.each([
    ["before anything was said", []],
    ["after the opening", [greeting(), INITIALIZED]],
    ["after the server took over", [greeting(), INITIALIZED, line({ id: 1, method: "x" })]],
  ])("ends with its input %s, on end and on close", async (_when, lines) => {
    for (const end of ["end", "destroy"] as const) {
      const { input, say, messages, server } = await serve();
      if (lines.length > 0) {
        say(...lines);
        const due = lines.filter((each) => each.includes('"id"')).length;
        await expect.poll(() => messages().length).toBe(due);
      }
      input[end]();
      await expect(server.closed).resolves.toBeUndefined();
    }
  });

  it("releases its input when closed", async () => {
    const { input, say, server } = await serve();
    say(greeting(), CALL);
    await server.close();
    await expect(server.closed).resolves.toBeUndefined();
    expect(input.isPaused()).toBe(true);
    expect(input.listenerCount("data")).toBe(0);
    input.destroy();
    await once(input, "close");
  });
});
