import { beforeEach, describe, expect, it } from "vitest";
import { isRecord, parseIfJson } from "../../src/kit/json.ts";
import { ask } from "../support/raw-http.ts";
import { verifies } from "../support/verifies.ts";
import { createOptions } from "./hosts.ts";
import { FORM } from "./messages.ts";
import { openHttp, openStdio } from "./opened.ts";
import { createReply, type ScriptedBroker, scriptBroker } from "./script.ts";

const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const ping = (id: unknown): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}`;
const call = (id: number, name: string, args: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });

type Answer = { id?: unknown; result?: { isError?: boolean }; error?: { code: number } };

/** Sends a text and returns the answers to it, as many as there are. */
type Send = (text: string, count: number) => Promise<Answer[]>;

let broker: ScriptedBroker;
beforeEach(() => {
  const account = { csrId: 1, accountNumber: "ACC-1", name: "Acme" };
  broker = scriptBroker({
    "documents.create": (args) => args,
    "documents.get": () => ({}),
    "accounts.get": () => account,
    "accounts.update": createReply(account, {}),
  });
});

const overStdio = async (): Promise<Send> => {
  const { input, lines } = openStdio(await createOptions(broker));
  let seen = 0;
  const send: Send = async (text, count) => {
    input.write(`${text}\n`);
    await expect.poll(() => lines().length, { timeout: 20_000 }).toBe(seen + count);
    const fresh = lines().slice(seen);
    seen += count;
    return fresh.map((line) => JSON.parse(line) as Answer);
  };
  await send(INITIALIZE, 1);
  await send(INITIALIZED, 0);
  return send;
};

const openSession = async () => {
  const url = await openHttp(await createOptions(broker));
  const post = (body: string, headers: Record<string, string> = FORM) =>
    ask(url, { method: "POST", body, headers });
  const { headers } = await post(INITIALIZE);
  const session = { ...FORM, "mcp-session-id": String(headers["mcp-session-id"]) };
  await post(INITIALIZED, session);
  return { post, session };
};

/** Returns the JSON-RPC messages of a body: JSON, or events. */
const messagesIn = (text: string): Answer[] => {
  const whole = parseIfJson(text);
  if (whole !== undefined) return [whole].flat() as Answer[];
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Answer);
};

const overHttp = async (): Promise<Send> => {
  const { post, session } = await openSession();
  return async (text) => messagesIn((await post(text, session)).text);
};

const idsOf = (answers: readonly Answer[]): unknown[] => answers.map(({ id }) => id);
const codesOf = (answers: readonly Answer[]): unknown[] => answers.map(({ error }) => error?.code);

const DEPTH = 300_000;

describe.each([
  ["stdio", overStdio],
  ["HTTP", overHttp],
])("over %s", (_door, open) => {
  verifies("HS-05");
  it.each([
    ["an empty batch", "[]", -32_600],
    ["null", "null", -32_600],
    ["a text", '"ping"', -32_600],
    ["a number", "7", -32_600],
    ["deep lists", "[".repeat(DEPTH) + "]".repeat(DEPTH), -32_600],
    ["a deep list that does not end", "[".repeat(DEPTH), -32_700],
  ])("%s has one answer, of which no request is the cause", async (_what, text, code) => {
    const send = await open();
    const answers = await send(text, 1);
    expect(idsOf(answers)).toEqual([null]);
    expect([code, -32_600]).toContain(answers[0]?.error?.code);
    // The connection is as good as before.
    expect(await send(ping(1), 1)).toMatchObject([{ id: 1, result: {} }]);
  });

  verifies("HS-05");
  it.each(["jsonrpc", "method", "params", "id"])(
    "a message with a deep %s is refused",
    async (name) => {
      const send = await open();
      const members = { jsonrpc: '"2.0"', id: "9", method: '"ping"', params: "{}" };
      const deep = { ...members, [name]: "[".repeat(DEPTH / 2) + "]".repeat(DEPTH / 2) };
      const text = Object.entries(deep).map(([key, value]) => `"${key}":${value}`);
      const answers = await send(`{${text.join()}}`, 1);
      expect(idsOf(answers)).toEqual([name === "id" ? null : 9]);
      expect(answers[0]?.error?.code).toBeLessThan(0);
      expect(await send(ping(10), 1)).toMatchObject([{ id: 10, result: {} }]);
    },
  );

  verifies("HS-05", "C-101");
  it("a request with deep members is refused under its id", async () => {
    const send = await open();
    const deep = "[".repeat(DEPTH) + "]".repeat(DEPTH);
    const text = `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":${deep}}}`;
    const answers = await send(text, 1);
    expect(idsOf(answers)).toEqual([9]);
    expect(await send(ping(10), 1)).toMatchObject([{ id: 10, result: {} }]);
  });

  verifies("HS-05", "C-101");
  it.each([101, 3000, 20_000, 150_000])(
    "a member that the SDK reads is refused with %i levels, under its id",
    async (levels) => {
      const send = await open();
      const deep = "[".repeat(levels) + "]".repeat(levels);
      const version = '"protocolVersion":"2025-11-25"';
      const info = '"clientInfo":{"name":"a","version":"1"}';
      for (const [method, params] of [
        ["initialize", `${version},${info},"capabilities":{"experimental":{"a":{"b":${deep}}}}`],
        ["tools/list", `"_meta":{"io.modelcontextprotocol/clientCapabilities":{"a":${deep}}}`],
        ["prompts/get", `"name":"draft-reply","arguments":{"kind":${deep}}`],
        ["logging/setLevel", `"level":${deep}`],
      ]) {
        const answers = await send(
          `{"jsonrpc":"2.0","id":9,"method":"${method}","params":{${params}}}`,
          1,
        );
        expect([method, idsOf(answers), codesOf(answers)]).toEqual([method, [9], [-32_602]]);
      }
      await send(`{"jsonrpc":"2.0","id":12,"result":{"x":${deep}}}`, 0);
      expect(await send(ping(10), 1)).toMatchObject([{ id: 10, result: {} }]);
    },
  );

  verifies("HS-05");
  it("each request of a batch has one answer, notifications have none", async () => {
    const send = await open();
    const batch = `[${ping(1)},${INITIALIZED},${ping("two")},${call(3, "accounts_get", { account_number: "ACC-1" })}]`;
    const answers = await send(batch, 3);
    expect(new Set(idsOf(answers))).toEqual(new Set([1, "two", 3]));
    expect(codesOf(answers)).toEqual([undefined, undefined, undefined]);
    expect(await send(`[${INITIALIZED}]`, 0)).toEqual([]);
  });

  verifies("HS-05");
  it("nested nulls count as left out where the schema takes none", async () => {
    const send = await open();
    const created = await send(
      call(1, "documents_create", {
        document_number: "INV-1",
        account_number: "ACC-1",
        invoice_date: "2026-01-05",
        due_date: "2026-02-05",
        currency: "USD",
        denomination: 5,
        po_number: null,
        line_items: [
          { line_number: 1, amount: 5, quantity: null, description: null },
          { line_number: 2, amount: null },
        ],
      }),
      1,
    );
    expect(created).toMatchObject([{ id: 1 }]);
    expect(created[0]?.result?.isError ?? false, JSON.stringify(created)).toBe(false);
    const { args = {} } = broker.seen.find(({ id }) => id === "documents.create") ?? {};
    expect(args["line_items"]).toEqual([{ line_number: 1, amount: 5 }, { line_number: 2 }]);
    expect(args).not.toHaveProperty("po_number");
    // Null that a schema takes stays: it clears.
    await send(call(2, "accounts_update", { account_number: "ACC-1", description: null }), 1);
    const updated = broker.seen.find(({ id }) => id === "accounts.update");
    expect(updated?.args).toMatchObject({ description: null });
    // A required member cannot be left out, and an item of a list is no member.
    const lines = [{ line_number: null, amount: 5 }];
    for (const [id, line_items] of [
      [3, lines],
      [4, [null]],
    ] as const) {
      const refused = await send(
        call(id, "documents_update", { document_number: "INV-1", line_items }),
        1,
      );
      expect(refused).toMatchObject([{ id, result: { isError: true } }]);
    }
  });
});

describe("a body over HTTP", () => {
  verifies("HS-04", "HS-05");
  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "application/json; charset=utf-16",
    "json",
    "",
  ])("of the type %s is refused with 415, as JSON-RPC", async (type) => {
    const { post, session } = await openSession();
    const { status, text } = await post(ping(5), { ...session, "content-type": type });
    expect(status).toBe(415);
    const answer = parseIfJson(text);
    expect(isRecord(answer) && isRecord(answer["error"])).toBe(true);
    expect(answer).toMatchObject({ jsonrpc: "2.0", id: 5 });
  });

  verifies("HS-05");
  it("with more messages than a batch may have is refused, and nothing is done", async () => {
    const { post, session } = await openSession();
    const batch = Array.from({ length: 101 }, (_, id) =>
      call(id, "accounts_get", { account_number: "ACC-1" }),
    );
    const { status, text } = await post(`[${batch.join()}]`, session);
    expect([status, messagesIn(text).length]).toEqual([400, 1]);
    expect(broker.seen).toEqual([]);
  });
});
