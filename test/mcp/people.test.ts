import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { type Callers, createCallers } from "../../src/mcp/http/callers.ts";
import { type CallerAuthInfo, toAuthInfo, type Caller, SCOPES } from "../../src/mcp/caller.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import type { ServerOptions } from "../../src/mcp/server.ts";
import type { ToolContext } from "../../src/mcp/tools/tool-context.ts";
import type { Handlers } from "../../src/mcp/handlers.ts";
import { type FakeClock, fakeClock } from "../support/clock.ts";
import { trustingGate } from "./trusting-gate.ts";
import { createCaller, createOptions, readProblem, type Result, ERAS } from "./hosts.ts";
import { scriptBroker, type ScriptedBroker } from "./script.ts";
import { ADDRESS, HELLO, META, requestOf } from "./messages.ts";
import { verifies } from "../support/verifies.ts";

const ALL = SCOPES.join(" ");

type Person = { broker: ScriptedBroker; closed: number };

/** Server options where all callers have one profile and tenant, and each a department with their name. */
const town = async () => {
  const people = new Map<string, Person>();
  const opened: string[] = [];
  const first = await createOptions(scriptBroker({}), { settings: { answerTokens: 1000 } });
  const open = async ({ id }: Caller): Promise<ToolContext> => {
    opened.push(id);
    const list = ["a", "b", "c"].map((name) => ({ departmentId: `${id}-${name}`, code: name }));
    const many = Array.from({ length: 100 }, (_, index) => ({ disputeId: `${id}-${index}` }));
    const broker = scriptBroker(
      {
        "departments.list": () => list,
        "departments.get_by_id": () => list[0],
        "departments.delete": () => null,
        "disputes.list": ({ Page }) => (Page === 1 ? many : []),
      },
      { tenantId: "one tenant", principal: "one credential for all" },
    );
    const person: Person = { broker, closed: 0 };
    broker.close = async () => {
      person.closed += 1;
    };
    people.set(id, person);
    return { ...first, broker, caller: id };
  };
  const front: ServerOptions = { ...first, open };
  return { front, people, opened };
};

describe.each(ERAS)("two people on one server, over HTTP as of %s", (_era, mode) => {
  let http: HttpServer;
  let place: Awaited<ReturnType<typeof town>>;
  beforeEach(async () => {
    place = await town();
    http = createHttpServer(place.front, { gate: trustingGate });
  });
  afterEach(() => http.close());

  const as = async (who: string, capabilities: object = {}): Promise<Client> => {
    const client = new Client(
      { name: "test", version: "1" },
      { capabilities, versionNegotiation: { mode } },
    );
    const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const asked = new Request(url, init);
      asked.headers.set("host", "127.0.0.1:8765");
      asked.headers.set("authorization", who);
      return http.fetch(asked);
    };
    await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
    return client;
  };
  const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })) as unknown as Result;

  verifies("C-65");
  it("each sees their own records in concurrent requests", async () => {
    const [ann, bob] = await Promise.all([as(`ann ${ALL}`), as(`bob ${ALL}`)]);
    const rounds = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? ann : bob));
    const answers = await Promise.all(rounds.map((client) => call(client, "departments_list")));
    for (const [index, answer] of answers.entries()) {
      const [mine, theirs] = index % 2 === 0 ? ["ann", "bob"] : ["bob", "ann"];
      expect(JSON.stringify(answer.structuredContent)).toContain(`${mine}-a`);
      expect(JSON.stringify(answer)).not.toContain(`${theirs}-`);
    }
    expect(place.opened.toSorted()).toEqual(["ann", "bob"]);
    await Promise.all([ann.close(), bob.close()]);
  });

  verifies("C-66");
  it("a confirmation of one is refused to the other, even with the same credential", async () => {
    const [ann, bob] = await Promise.all([as(`ann ${ALL}`), as(`bob ${ALL}`)]);
    const gone = { departmentId: "ann-a" };
    const asked = await call(ann, "departments_delete", gone);
    const { confirmationToken } = (asked._meta?.["receivables/confirmation"] ?? {}) as {
      confirmationToken: string;
    };
    const used = await call(bob, "departments_delete", { ...gone, confirmationToken });
    expect(readProblem(used).code).toBe("confirmation_invalid");
    const mine = await call(ann, "departments_delete", { ...gone, confirmationToken });
    expect(mine.structuredContent).toMatchObject({ deleted: true });
    const acts = (who: string) =>
      place.people.get(who)?.broker.seen.filter(({ id }) => id === "departments.delete");
    expect([acts("ann")?.length, acts("bob")?.length]).toEqual([1, 0]);
    await Promise.all([ann.close(), bob.close()]);
  });

  verifies("C-66");
  it("a cursor of one is refused to the other", async () => {
    const [ann, bob] = await Promise.all([as(`ann ${ALL}`), as(`bob ${ALL}`)]);
    const { structuredContent } = await call(ann, "disputes_list");
    const cursor = structuredContent?.["nextCursor"];
    expect(cursor).toBeTypeOf("string");
    const stolen = await call(bob, "disputes_list", { cursor });
    expect(readProblem(stolen).message).toContain("of someone else");
    expect((await call(ann, "disputes_list", { cursor })).isError).not.toBe(true);
    await Promise.all([ann.close(), bob.close()]);
  });

  verifies("C-69");
  it("all with equal rights see the same tools, in the same order", async () => {
    const [ann, bob] = await Promise.all([as(`ann ${ALL}`), as(`bob ${ALL}`)]);
    const [one, other] = await Promise.all([ann.listTools(), bob.listTools()]);
    expect(other.tools).toEqual(one.tools);
    expect(one.tools).toEqual(toolList(place.front.settings));
    await Promise.all([ann.close(), bob.close()]);
  });
});

const TWENTY_SIX = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" };

const toolCall = (name: string, meta?: object) => ({
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name, arguments: {}, ...(meta === undefined ? {} : { _meta: meta }) },
});

describe("one request over HTTP", () => {
  let http: HttpServer;
  let place: Awaited<ReturnType<typeof town>>;
  beforeEach(async () => {
    place = await town();
    http = createHttpServer(place.front, { gate: trustingGate });
  });
  afterEach(() => http.close());

  const send = async (
    who: string,
    body: unknown,
    headers: Record<string, string> = {},
    method = "POST",
  ) => {
    const response = await http.fetch(requestOf(body, { authorization: who, ...headers }, method));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const begin = async (who: string) => (await send(who, HELLO)).headers.get("mcp-session-id") ?? "";

  verifies("C-65");
  it("another person's session is not found, and stays open", async () => {
    const id = await begin("ann read");
    const within = { "mcp-session-id": id };
    const list = { jsonrpc: "2.0", id: 3, method: "tools/list" };
    const tries = [
      await send("bob read", list, within),
      await send("bob read", undefined, { ...within, accept: "text/event-stream" }, "GET"),
      await send("bob read", undefined, within, "DELETE"),
    ];
    expect(tries.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await send("ann read", list, within)).status).toBe(200);
    expect((await send("", list, within)).status).toBe(401);
  });

  verifies("C-62");
  it("a writing tool is refused with the missing scope to a caller who may only read", async () => {
    const within = { "mcp-session-id": await begin("ann read") };
    const modern = (name: string) => ({ ...TWENTY_SIX, "mcp-name": name });
    const ways: [unknown, Record<string, string>][] = [
      [toolCall("disputes_create"), {}],
      [toolCall("disputes_create"), within],
      [[{ ...toolCall("disputes_list"), id: 71 }, toolCall("disputes_create")], within],
      [toolCall("disputes_create", META), modern("disputes_create")],
    ];
    for (const [body, headers] of ways) {
      const { status, headers: got, text } = await send("ann read", body, headers);
      expect([status, JSON.parse(text).error]).toEqual([403, "insufficient_scope"]);
      const challenge = got.get("www-authenticate");
      expect(challenge).toContain('scope="write"');
      expect(challenge).toContain('resource_metadata="http://x/prm"');
    }
    expect(place.opened).toEqual([]);
  });

  verifies("C-62");
  it.each([
    ["departments_list", "write admin", "read"],
    ["disputes_update", "read admin", "write"],
    ["accounts_create", "read admin", "write"],
    ["departments_delete", "read write", "admin"],
    ["api_keys_create", "read write", "admin"],
    ["webhooks_create", "read write", "admin"],
    ["schedules_delete", "read write", "admin"],
  ])("%s is refused with the scopes %s: it needs %s", async (tool, has, needs) => {
    const { status, headers } = await send(`ann ${has}`, toolCall(tool));
    expect(status).toBe(403);
    expect(headers.get("www-authenticate")).toContain(`scope="${needs}"`);
  });

  verifies("C-62");
  it("a tool with an encoded name is checked too", async () => {
    const name = Buffer.from("departments_delete").toString("base64");
    const headers = { ...TWENTY_SIX, "mcp-name": `=?base64?${name}?=` };
    const { status, text } = await send("ann read", toolCall("departments_delete", META), headers);
    expect(status === 403 || text.includes("insufficient_scope") || text.includes("-32020")).toBe(
      true,
    );
    expect(place.people.get("ann")?.broker.seen ?? []).toEqual([]);
  });

  verifies("C-62");
  it.each([
    ["resources/read", { uri: "receivables://dispute-configuration/departments" }],
    ["prompts/get", { name: "triage-disputes" }],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "x" }, argument: { name: "a", value: "" } },
    ],
  ])("%s needs read", async (method, params) => {
    const asked = { jsonrpc: "2.0", id: 4, method, params };
    const { status, headers } = await send("ann write admin", asked);
    expect(status).toBe(403);
    expect(headers.get("www-authenticate")).toContain('scope="read"');
  });
});

describe("the cache of callers", () => {
  const LIMITS = { max: 2, idleMs: 30 * MINUTE };
  let callers: Callers;
  let clock: FakeClock;
  let place: Awaited<ReturnType<typeof town>>;
  beforeEach(async () => {
    clock = fakeClock();
    place = await town();
    callers = createCallers({ serverOptions: place.front, now: clock }, LIMITS);
  });
  afterEach(() => callers.close());

  type Context = Parameters<Callers["find"]>[0];
  const contextOf = (authInfo: CallerAuthInfo | undefined) =>
    ({ http: { authInfo } }) as unknown as Context;
  const from = (id: string) => contextOf(toAuthInfo(createCaller(id, { profile: "shared" })));
  const use = (id: string): Promise<Handlers> => callers.find(from(id), async (work) => work);
  const closed = (id: string) => place.people.get(id)?.closed;

  it("opens a caller once for concurrent requests", async () => {
    const works = await Promise.all([use("ann"), use("ann"), use("bob")]);
    expect(works[1]).toBe(works[0]);
    expect(works[2]).not.toBe(works[0]);
    expect(place.opened).toEqual(["ann", "bob"]);
  });

  it("closes the least recently used caller when it is full, and opens it again", async () => {
    const first = await use("ann");
    await use("bob");
    await use("ann");
    await use("cid");
    expect(callers.count()).toBe(2);
    await expect.poll(() => [closed("ann"), closed("bob"), closed("cid")]).toEqual([0, 1, 0]);
    expect(await use("ann")).toBe(first);
    await use("bob");
    expect(place.opened).toEqual(["ann", "bob", "cid", "bob"]);
  });

  it("closes an idle caller", async () => {
    await use("ann");
    clock.advance(LIMITS.idleMs - 1);
    await use("ann");
    clock.advance(LIMITS.idleMs - 1);
    callers.sweep();
    expect(callers.count()).toBe(1);
    clock.advance(2);
    callers.sweep();
    expect(callers.count()).toBe(0);
    await expect.poll(() => closed("ann")).toBe(1);
  });

  it("does not close a caller with requests in progress", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = callers.find(from("ann"), () => promise);
    await use("bob");
    await use("cid");
    await use("dan");
    expect(closed("ann")).toBe(0);
    resolve();
    await slow;
    await expect.poll(() => closed("ann")).toBe(1);
  });

  it("does not store a caller that could not be opened", async () => {
    const fails = { ...place.front, log: silentLog };
    let tries = 0;
    const open = async (caller: Caller) => {
      tries += 1;
      if (tries === 1) throw new Error("the profile is not there yet");
      return place.front.open(caller);
    };
    const own = createCallers({ serverOptions: { ...fails, open }, now: clock }, LIMITS);
    await expect(own.find(from("ann"), async () => 1)).rejects.toThrow("not there yet");
    expect(own.count()).toBe(0);
    expect(await own.find(from("ann"), async () => 2)).toBe(2);
    await own.close();
    expect(closed("ann")).toBe(1);
  });

  it("opens a caller again within a second of a change, after running requests end", async () => {
    let stamp = "first";
    const front = { ...place.front, stampOf: async () => stamp };
    const own = createCallers({ serverOptions: front, now: clock }, LIMITS);
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = own.find(from("ann"), () => promise);
    const first = await own.find(from("ann"), async (work) => work);
    stamp = "second";
    expect(await own.find(from("ann"), async (work) => work)).toBe(first);
    clock.advance(1000);
    const [one, two] = await Promise.all([1, 2].map(() => own.find(from("ann"), async (w) => w)));
    expect(one).not.toBe(first);
    expect(two).toBe(one);
    expect([place.opened, own.count()]).toEqual([["ann", "ann"], 1]);
    resolve();
    await slow;
    expect(await own.find(from("ann"), async (work) => work)).toBe(one);
    await own.close();
  });

  it("keeps a caller while its stamp cannot be read", async () => {
    let isBroken = false;
    const stampOf = async (): Promise<string> => {
      if (isBroken) throw new Error("half written");
      return "whole";
    };
    const own = createCallers({ serverOptions: { ...place.front, stampOf }, now: clock }, LIMITS);
    const first = await own.find(from("ann"), async (work) => work);
    isBroken = true;
    clock.advance(1000);
    expect(await own.find(from("ann"), async (work) => work)).toBe(first);
    await own.close();
  });

  it("closes all callers with the server", async () => {
    await Promise.all([use("ann"), use("bob")]);
    await callers.close();
    expect([closed("ann"), closed("bob")]).toEqual([1, 1]);
  });

  it("refuses a request that was not authenticated", async () => {
    await expect(callers.find(contextOf(undefined), async () => 1)).rejects.toThrow(
      "not authenticated",
    );
  });
});
