import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contract } from "../../src/contract/index.ts";
import { problemOf, remoteClient, type RemoteClient } from "../support/remote-client.ts";
import { json, problem, type Seen, wildServer, type WildServer } from "../support/wild-server.ts";
import { note as NOTE } from "../support/wild-client.ts";
import { verifies } from "../support/verifies.ts";

const args = { tenantId: "t", disputeId: "d", content: "c" };
const keyed = { tool: "a_tool", idempotencyKey: "key-1" };

let server: WildServer;
let client: RemoteClient;
let health: unknown;
let failures: number;
let fail: (response: Parameters<typeof json>[0]) => void;

const isHealth = ({ url }: Seen): boolean => url === "/health";
const posts = () => server.seen.filter((seen) => !isHealth(seen));
const create = (options = keyed, through = client) =>
  through.call(contract.dispute_notes.create, args, {}, options);

beforeEach(async () => {
  health = { status: "ok", idempotency: true };
  failures = 0;
  fail = (response) => problem(response, 503, { code: "unavailable" });
  server = await wildServer((seen, response) => {
    if (isHealth(seen)) json(response, 200, health);
    else if (failures-- > 0) fail(response);
    else json(response, 201, NOTE);
  });
  client = remoteClient(server.url);
});
afterEach(async () => {
  await client.close();
  await server.close();
});

verifies("D-MCP-3");
describe("a creating POST", () => {
  it("is repeated with its key if the service's health document says that it honours keys", async () => {
    failures = 2;
    expect(await create()).toMatchObject({ status: 201, output: NOTE });
    expect(posts().map(({ headers }) => headers["idempotency-key"])).toEqual([
      "key-1",
      "key-1",
      "key-1",
    ]);
    failures = 1;
    await create();
    expect(server.seen.filter(isHealth)).toHaveLength(1);
  });

  it("does not ask the service's health as long as no error occurs", async () => {
    await create();
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ["lost", (response: Parameters<typeof json>[0]) => response.destroy()],
    [
      "under way",
      (response: Parameters<typeof json>[0]) => {
        problem(response, 409, { code: "idempotency_in_progress" }, { "retry-after": "1" });
      },
    ],
  ])("is made again where the first was %s", async (_how, behave) => {
    failures = 1;
    fail = behave;
    expect((await create()).status).toBe(201);
    expect(posts()).toHaveLength(2);
  });

  it.each([
    ["says nothing of keys", { status: "ok" }],
    ["does not honour them", { idempotency: false }],
    ["says so in other words", { idempotency: "true" }],
    ["answers with something else", ["idempotency", true]],
    ["answers with nothing", null],
  ])("is made once where health %s", async (_what, told) => {
    health = told;
    failures = 1;
    const refusal = await problemOf(create());
    expect(refusal.code).toBe("unavailable");
    expect(posts()).toHaveLength(1);
  });

  it("is repeated after a response that was a replay, also if the health document is silent about keys", async () => {
    health = {};
    fail = (response) => json(response, 201, NOTE, { "idempotency-replayed": "true" });
    failures = 1;
    await create();
    fail = (response) => response.destroy();
    failures = 2;
    expect((await create()).status).toBe(201);
  });

  it("is sent once without a key", async () => {
    failures = 1;
    await problemOf(create({ tool: "a_tool" } as typeof keyed));
    expect(server.seen).toHaveLength(1);
  });

  it("is not repeated after an error about the request", async () => {
    failures = 1;
    fail = (response) => problem(response, 409, { code: "conflict", detail: "No." });
    expect((await problemOf(create())).code).toBe("conflict");
    expect(server.seen).toHaveLength(1);
  });

  it("reports an uncertain outcome with the key that makes a repetition safe", async () => {
    failures = 9;
    fail = (response) => response.destroy();
    expect((await problemOf(create())).details).toEqual({
      uncertain: true,
      idempotencyKey: "key-1",
    });
    health = {};
    const other = remoteClient(server.url);
    expect((await problemOf(create(keyed, other))).details).toEqual({ uncertain: true });
    await other.close();
  });
});

describe("requests that may have been executed", () => {
  const { update, get, delete: remove } = contract.dispute_notes;
  const one = { tenantId: "t", disputeId: "d", noteId: "n" };

  it.each([500, 502, 504])("include every change answered with %i", async (status) => {
    failures = 9;
    fail = (response) => response.writeHead(status).end();
    const options = { tool: "a_tool" };
    for (const call of [
      () => client.call(update, { ...one, content: "x" }, {}, options),
      () => client.call(remove, one, {}, options),
      () => client.call(contract.dispute_notes.create, args, {}, options),
    ]) {
      expect((await problemOf(call())).details.uncertain).toBe(true);
    }
    const read = await problemOf(client.call(get, one, {}, { tool: "a_tool" }));
    expect(read.details).toEqual({});
  });

  it("exclude those that were refused or never sent", async () => {
    failures = 9;
    fail = (response) => problem(response, 400, { code: "invalid_request" });
    expect((await problemOf(create())).details).toEqual({});
    const gone = remoteClient("http://127.0.0.1:9");
    const sent = { ...one, content: "x" };
    const refused = await problemOf(gone.call(update, sent, {}, { tool: "a_tool" }));
    expect(refused.message).toContain("cannot be reached");
    expect(refused.details).toEqual({});
    await gone.close();
  });

  it("include a deletion answered with a page in place of an empty response", async () => {
    failures = 1;
    fail = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi");
    const refusal = await problemOf(client.call(remove, one, {}, { tool: "a_tool" }));
    expect(refusal).toMatchObject({ code: "unavailable", details: { uncertain: true } });
  });
});
