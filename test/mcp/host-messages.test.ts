import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { createOriginCheck } from "../../src/kit/cors.ts";
import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { ask } from "../support/raw-http.ts";
import { verifies } from "../support/verifies.ts";
import { createOptions, OPEN } from "./hosts.ts";
import { FORM } from "./messages.ts";
import { openHttp, openStdio } from "./opened.ts";
import { type ScriptedBroker, scriptBroker } from "./script.ts";

let broker: ScriptedBroker;
beforeEach(() => {
  broker = scriptBroker({ "departments.get": () => ({ departmentId: "d" }) });
});

const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const CALL =
  '"method":"tools/call","params":{"name":"departments_get","arguments":{"departmentCode":"A"}}';

/** Messages, and the text that the answer to each has; those with `error` are refused. */
const MESSAGES: [what: string, message: string, answer: string, isRefused?: "error"][] = [
  ["20 digits", `{"jsonrpc":"2.0","id":12345678901234567890,${CALL}}`, '"id":12345678901234567890'],
  ["a fraction of zero", `{"jsonrpc":"2.0","id":1.0,${CALL}}`, '"id":1.0'],
  ["an exponent", `{"jsonrpc":"2.0","id":1e3,${CALL}}`, '"id":1e3'],
  ["a text", `{"jsonrpc":"2.0","id":"\u2028 7",${CALL}}`, '7"'],
  ["params null", '{"jsonrpc":"2.0","id":11,"method":"ping","params":null}', '"id":11'],
  [
    "a cursor null",
    '{"jsonrpc":"2.0","id":12,"method":"tools/list","params":{"cursor":null}}',
    '"id":12',
  ],
  [
    "arguments null",
    '{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"departments_list","arguments":null}}',
    '"id":13',
  ],
  ["null results", `{"jsonrpc":"2.0","id":14,"result":null,"error":null,${CALL}}`, '"id":14'],
  ["a response's members", `{"jsonrpc":"2.0","id":22,"result":{},"error":{},${CALL}}`, '"id":22'],
  ...["{}", "[]", "true", "1.5", "12345678901234567890"].map(
    (token, index): [string, string, string] => [
      `${token} as progress token`,
      `{"jsonrpc":"2.0","id":3${index},"method":"ping","params":{"_meta":{"progressToken":${token}}}}`,
      `"id":3${index}`,
    ],
  ),
  ...['"x"', "[]", "7", '{"io.modelcontextprotocol/related-task":{}}'].map(
    (meta, index): [string, string, string] => [
      `${meta} as _meta`,
      `{"jsonrpc":"2.0","id":4${index},"method":"ping","params":{"_meta":${meta}}}`,
      `"id":4${index}`,
    ],
  ),
  ...["[]", '""', '"{\\"cursor\\":null}"'].map((args, index): [string, string, string] => [
    `${args} as arguments`,
    `{"jsonrpc":"2.0","id":5${index},"method":"tools/call","params":{"name":"departments_list","arguments":${args}}}`,
    `"id":5${index}`,
  ]),
  [
    "a number as argument of a prompt",
    '{"jsonrpc":"2.0","id":23,"method":"prompts/get","params":{"name":"work-dispute","arguments":{"disputeId":7}}}',
    '"id":23',
  ],
  [
    "an empty cursor",
    '{"jsonrpc":"2.0","id":24,"method":"resources/list","params":{"cursor":""}}',
    '"id":24',
  ],
  ["a call without params", '{"jsonrpc":"2.0","id":25,"method":"tools/call"}', '"id":25', "error"],
  [
    "a tool without a name",
    '{"jsonrpc":"2.0","id":26,"method":"tools/call","params":{"name":null}}',
    '"id":26,"error":{"code":-32602,"message":"The member params.name must be a text; it is null."}',
    "error",
  ],
  [
    "a filled list as arguments",
    '{"jsonrpc":"2.0","id":27,"method":"tools/call","params":{"name":"departments_list","arguments":[1]}}',
    '"id":27,"error":{"code":-32602,"message":"The member params.arguments must be an object; it is a list."}',
    "error",
  ],
  [
    "a list as params",
    '{"jsonrpc":"2.0","id":15,"method":"ping","params":[1]}',
    '"id":15',
    "error",
  ],
  [
    "an empty list as params",
    '{"jsonrpc":"2.0","id":28,"method":"tools/list","params":[]}',
    '"id":28',
  ],
  [
    "an empty list as context",
    '{"jsonrpc":"2.0","id":29,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"draft-reply"},"argument":{"name":"kind","value":""},"context":{"arguments":[]}}}',
    '"id":29',
  ],
  ["no version", '{"id":16,"method":"ping"}', '"id":16', "error"],
  ["another version", '{"jsonrpc":"1.0","id":17,"method":"ping"}', '"id":17', "error"],
  ["no method", '{"jsonrpc":"2.0","id":18,"params":{}}', '"id":18', "error"],
  ["a number as method", '{"jsonrpc":"2.0","id":19,"method":7}', '"id":19', "error"],
  ["an unknown method", '{"jsonrpc":"2.0","id":20,"method":"what/ever"}', '"id":20', "error"],
  ["broken JSON", '{"jsonrpc":"2.0","id":21,"method":"ping","params":{,}}', '"id":21', "error"],
  ["an object as id", '{"jsonrpc":"2.0","id":{},"method":"ping"}', '"id":null', "error"],
];

/** What hosts write about themselves where a member is empty, a number or left out. */
const GREETINGS = [
  '"capabilities":[],"clientInfo":{"name":"h","version":"1"}',
  '"capabilities":{"roots":[],"elicitation":{"form":[]},"extensions":[]},"clientInfo":{"name":"h","version":"1"}',
  '"capabilities":null,"clientInfo":{"name":"h","version":2}',
  '"clientInfo":{"name":"h"}',
  '"clientInfo":[]',
];
const greet = (members: string): string =>
  `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",${members}}}`;

const isUnder = (text: string, id: string): boolean =>
  [",", "}"].some((end) => text.includes(id + end));

const isError = (text: string): boolean => text.includes('"error":{"code"');

describe("messages over stdio", () => {
  const open = async () => openStdio(await createOptions(broker));

  verifies("HS-05");
  it("get one answer each, under their ids as written", async () => {
    const { input, lines } = await open();
    input.write(`\ufeff${INITIALIZE}\n${INITIALIZED}\n`);
    for (const [, message] of MESSAGES) input.write(`${message}\n`);
    await expect.poll(() => lines().length).toBe(MESSAGES.length + 1);
    for (const [what, , answer, refused] of MESSAGES) {
      const found = lines().filter((line) => isUnder(line, answer));
      expect([what, found.length]).toEqual([what, 1]);
      expect([what, isError(found[0] ?? "")]).toEqual([what, refused === "error"]);
    }
  });

  it.each(GREETINGS)("are answered after a greeting with %s", async (members) => {
    const { input, lines } = await open();
    input.write(`${greet(members)}\n${INITIALIZED}\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n`);
    await expect.poll(() => lines().length).toBe(2);
    const answers = lines().map((line) => JSON.parse(line) as object);
    expect(answers).toMatchObject([
      { id: 0, result: { protocolVersion: "2025-06-18" } },
      { id: 1, result: {} },
    ]);
  });

  it("get one answer each though they stand in one line", async () => {
    const { input, lines } = await open();
    const [first, second] = [
      '{"jsonrpc":"2.0","id":31,"method":"ping"}',
      '{"id":"32","method":"x"}',
    ];
    input.write(`${INITIALIZE}\n${INITIALIZED}\n${first}${second} {"id":33,\n`);
    // A host that could not read an answer says so; nothing waits for an answer to that.
    input.write('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n');
    input.write(`${first.replace("31", "34")}\n`);
    await expect.poll(() => lines().length).toBe(5);
    for (const id of ["31", '"32"', "33"]) {
      expect(lines().filter((line) => isError(line) && isUnder(line, `"id":${id}`))).toHaveLength(
        1,
      );
    }
    expect(lines().some((line) => isUnder(line, '"id":34') && !isError(line))).toBe(true);
  });

  it("get one answer each if they are nested deeply", async () => {
    const { input, lines } = await open();
    input.write(`${INITIALIZE}\n${INITIALIZED}\n`);
    const deep = `"arguments":{"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    for (const [id, meta] of [
      [1, '"_meta":null,'],
      [2, ""],
    ]) {
      const params = `{${meta}"name":"departments_list",${deep}}`;
      input.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}\n`);
    }
    await expect.poll(() => lines().length).toBe(3);
    expect(lines().filter((line) => isUnder(line, '"id":1'))).toHaveLength(1);
    expect(lines().filter((line) => isUnder(line, '"id":2'))).toHaveLength(1);
  });

  it("get one answer each in a batch, and in a line that is too long", async () => {
    const { input, lines } = await open();
    input.write(`${INITIALIZE}\n${INITIALIZED}\n`);
    input.write(
      `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":2},3,{"jsonrpc":"2.0","id":4,${CALL}}]\n`,
    );
    await expect.poll(() => lines().length).toBe(5);
    input.write(
      `{"jsonrpc":"2.0","method":"ping","params":{"x":"${"a".repeat(11 * 1024 * 1024)}"},"id":77}\n`,
    );
    await expect.poll(() => lines().length).toBe(6);
    expect(JSON.parse(lines()[5] ?? "")).toMatchObject({ id: 77, error: { code: -32_600 } });
    const ids = lines().map((line) => (JSON.parse(line) as { id: unknown }).id);
    expect(ids.filter((id) => [1, 2, 4].includes(Number(id)) && id !== null)).toHaveLength(3);
  });

  verifies("HS-06");
  it.each([
    ["with", "\n"],
    ["without", ""],
  ])("are answered after the end of the input, the last one %s a line end", async (_how, end) => {
    const { promise: settled, resolve } = Promise.withResolvers<object>();
    broker = scriptBroker({ "departments.get": () => settled });
    const { input, server, lines } = await open();
    input.end(`${INITIALIZE}\n${INITIALIZED}\n{"jsonrpc":"2.0","id":5,${CALL}}${end}`);
    await expect.poll(() => broker.seen.length).toBe(1);
    resolve({ departmentId: "d" });
    await server.closed;
    expect(broker.seen).toHaveLength(1);
    expect(lines().map((line) => (JSON.parse(line) as { id: unknown }).id)).toEqual([0, 5]);
  });
});

describe("answers over stdio", () => {
  verifies("HS-06");
  it("are written for a reader that takes them long after the end of the input", async () => {
    const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1024 })];
    const server = startStdio(await createOptions(broker), { input, output });
    const lists = [1, 2, 3].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`);
    input.end(
      `${INITIALIZE}\n${INITIALIZED}\n${lists.join("\n")}\n{"id":4,${CALL},"jsonrpc":"2.0"}`,
    );
    let isClosed = false;
    void server.closed.then(() => (isClosed = true));
    await expect.poll(() => broker.seen.length).toBe(1);
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    expect(isClosed).toBe(false);
    let printed = "";
    output.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
    await server.closed;
    expect(printed.split("\n").slice(0, -1)).toHaveLength(5);
  });
});

describe("messages over HTTP", () => {
  const open = async () => {
    const isOrigin = createOriginCheck(["https://app.example.com"]);
    const url = await openHttp(await createOptions(broker), { ...OPEN, isOrigin });
    const post = (text: string, headers: Record<string, string> = {}) =>
      ask(url, {
        method: "POST",
        body: text,
        headers: { ...FORM, ...headers },
      });
    const { headers } = await post(INITIALIZE);
    return { url, post, session: String(headers["mcp-session-id"]) };
  };

  verifies("HS-05");
  it("get one answer each, under their ids as written", async () => {
    const { post, session } = await open();
    for (const [what, message, answer, refused] of MESSAGES) {
      const { text } = await post(message, { "mcp-session-id": session });
      expect([what, text, isUnder(text, answer)]).toEqual([what, text, true]);
      expect([what, isError(text)]).toEqual([what, refused === "error"]);
    }
    const unknown = await post('{"jsonrpc":"2.0","id":"x","method":"ping"}', {
      "mcp-session-id": "no",
    });
    expect([unknown.status, JSON.parse(unknown.text).id]).toEqual([404, "x"]);
    const batch = await post(
      `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":2},{"jsonrpc":"2.0","id":1,${CALL}}]`,
      { "mcp-session-id": session },
    );
    const ids = (JSON.parse(batch.text) as { id: unknown }[]).map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set([1, 2]));
  });

  verifies("HS-04");
  it.each([
    ["accept", "*/*"],
    ["accept", "Application/JSON;q=0.9, text/*;q=0.5"],
    ["accept", ""],
    ["mcp-protocol-version", ""],
    ["mcp-protocol-version", "2025-06-18, 2025-06-18"],
    ["origin", ""],
    ["content-type", 'APPLICATION/JSON; Charset="UTF-8"'],
    ["content-encoding", "identity"],
  ])("are accepted with %s: %s", async (name, value) => {
    const { post, session } = await open();
    const headers = { "mcp-session-id": `${session}, ${session}`, [name]: value };
    expect((await post('{"jsonrpc":"2.0","id":3,"method":"ping"}', headers)).status).toBe(200);
  });

  it.each([
    ["accept", "application/json;q=0, text/event-stream", 406],
    ["mcp-protocol-version", "2025-06-18, 1999-01-01", 400],
    ["content-encoding", "gzip", 415],
  ])("are refused with %s: %s", async (name, value, status) => {
    const { post, session } = await open();
    const headers = { "mcp-session-id": session, [name]: value };
    const answer = await post('{"jsonrpc":"2.0","id":3,"method":"ping"}', headers);
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.headers["accept-encoding"]).toBe("identity");
  });

  verifies("HS-05");
  it.each(GREETINGS)("are answered after a greeting with %s", async (members) => {
    const { post } = await open();
    const { status, headers } = await post(greet(members));
    expect(status).toBe(200);
    const session = String(headers["mcp-session-id"]);
    const ping = await post('{"jsonrpc":"2.0","id":1,"method":"ping"}', {
      "mcp-session-id": session,
    });
    expect([ping.status, isUnder(ping.text, '"id":1')]).toEqual([200, true]);
  });

  it("open a session with a greeting that names another one", async () => {
    const { post, session } = await open();
    for (const known of [session, "of-a-server-before-its-restart"]) {
      const { status, headers } = await post(INITIALIZE, { "mcp-session-id": known });
      expect(status).toBe(200);
      expect(headers["mcp-session-id"]).toMatch(/\S/);
      expect(headers["mcp-session-id"]).not.toBe(known);
    }
    const ping = await post('{"jsonrpc":"2.0","id":3,"method":"ping"}', {
      "mcp-session-id": session,
    });
    expect(ping.status).toBe(200);
  });

  it("need no session in 2026, and may name one that is gone", async () => {
    const { post } = await open();
    const meta = (name: string, value: string) => `"io.modelcontextprotocol/${name}":${value}`;
    const envelope = [
      meta("protocolVersion", '"2026-07-28"'),
      meta("clientInfo", '{"name":"a","version":"1"}'),
      meta("clientCapabilities", "{}"),
    ];
    const answer = await post(
      `{"jsonrpc":"2.0","id":5,"method":"prompts/list","params":{"_meta":{${envelope.join()}}}}`,
      {
        "mcp-session-id": "of-an-older-server",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "prompts/list",
      },
    );
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"prompts"')]);
  });

  it("have a new stream in place of a dead one", async () => {
    const { url, session, post } = await open();
    const headers = { accept: "text/event-stream", "mcp-session-id": session };
    const first = await fetch(url, { headers });
    const second = await fetch(url, { headers });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await first.text()).toBe("");
    const ping = await post('{"jsonrpc":"2.0","id":3,"method":"ping"}', {
      "mcp-session-id": session,
    });
    expect(ping.status).toBe(200);
    await second.body?.cancel();
  });

  verifies("HS-03");
  it("come from scripts of accepted origins, which may read session and challenge", async () => {
    const { url, post } = await open();
    const origin = "https://app.example.com";
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, mcp-session-id",
    };
    const preflight = await fetch(url, { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-headers")).toBe(
      "content-type, mcp-session-id",
    );
    const answer = await post(INITIALIZE, { origin });
    expect(answer.headers["access-control-allow-origin"]).toBe(origin);
    expect(answer.headers["access-control-expose-headers"]).toMatch(
      /Mcp-Session-Id.*WWW-Authenticate/,
    );
    expect((await post(INITIALIZE, { origin: "https://app.example.com:444" })).status).toBe(403);
  });
});
