import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { toAuthInfo } from "../../src/mcp/caller.ts";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import { createBuildServer } from "../../src/mcp/server.ts";
import { createSessions, type Sessions } from "../../src/mcp/http/sessions.ts";
import { type FakeClock, fakeClock } from "../support/clock.ts";
import { createCaller, createOptions, OPEN } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { ADDRESS, HELLO, requestOf } from "./messages.ts";
import { verifies } from "../support/verifies.ts";

const ANN = toAuthInfo(createCaller("ann"));

let removed = 0;
const front = () => {
  removed = 0;
  const remove = () => {
    removed += 1;
    return null;
  };
  return createOptions(
    scriptBroker({
      "departments.get_by_id": () => ({ departmentId: "d" }),
      "departments.delete": remove,
    }),
  );
};

describe("hosts of 2025 over HTTP", () => {
  let http: HttpServer;
  beforeEach(async () => {
    http = createHttpServer(await front(), OPEN);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await http.close();
  });

  const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const asked = new Request(url, init);
    asked.headers.set("host", "127.0.0.1:8765");
    return http.fetch(asked);
  };

  const capabilities = { elicitation: {} };
  const yes = { action: "accept" as const, content: { confirm: true } };
  const gone = { name: "departments_delete", arguments: { departmentId: "d" } };

  verifies("C-65");
  it("can be asked before something is deleted, with the SDK's newer client", async () => {
    const client = new Client({ name: "test", version: "1" }, { capabilities });
    const questions: string[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      return yes;
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
    const result = await client.callTool(gone);
    expect(result.structuredContent).toMatchObject({ deleted: true });
    expect(questions).toHaveLength(1);
    await client.close();
  });

  verifies("C-65");
  it("can be asked before something is deleted, with the SDK's older client", async () => {
    const client = new OldClient({ name: "test", version: "1" }, { capabilities });
    const questions: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return { action: "decline" as const };
    });
    await client.connect(new OldTransport(new URL(ADDRESS), { fetch }));
    const result = await client.callTool(gone);
    expect(result.isError).toBe(true);
    expect(questions).toHaveLength(1);
    await client.close();
  });

  verifies("OP-23");
  it("get a refusal for a call whose question has no answer when the server ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const client = new Client({ name: "test", version: "1" }, { capabilities });
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<typeof yes>();
    client.setRequestHandler("elicitation/create", () => {
      asked.resolve();
      return answered.promise;
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
    const call = client.callTool(gone);
    await asked.promise;
    const closed = http.close();
    await vi.advanceTimersByTimeAsync(5000);
    const { isError, content } = await call;
    answered.resolve(yes);
    await closed;
    expect(isError).toBe(true);
    expect(content).toMatchObject([
      { text: expect.stringMatching(/^unavailable: .*nothing was changed.*then call again\.$/) },
    ]);
    expect(removed).toBe(0);
    await client.close();
  });

  const openSession = async (): Promise<string> => {
    const response = await http.fetch(requestOf(HELLO));
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  };

  verifies("C-65");
  it("get a session with a random id, and can end it", async () => {
    const [one, other] = [await openSession(), await openSession()];
    expect(one).toMatch(/^[\w-]{43}$/);
    expect(other).not.toBe(one);
    const list = { jsonrpc: "2.0", id: 2, method: "prompts/list" };
    const status = async (id: string) => {
      const response = await http.fetch(requestOf(list, { "mcp-session-id": id }));
      await response.text();
      return response.status;
    };
    expect(await status(one)).toBe(200);
    const ended = await http.fetch(requestOf(undefined, { "mcp-session-id": one }, "DELETE"));
    expect(ended.status).toBe(200);
    expect([await status(one), await status(other), await status("made-up")]).toEqual([
      404, 200, 404,
    ]);
  });

  it("are answered without a session if they open none", async () => {
    const response = await http.fetch(requestOf({ jsonrpc: "2.0", id: 3, method: "prompts/list" }));
    expect(response.status).toBe(200);
    expect(response.headers.has("mcp-session-id")).toBe(false);
    expect(await response.text()).toContain("triage-disputes");
  });

  it.each([
    ["no JSON", "{"],
    ["a greeting without a version", JSON.stringify({ ...HELLO, params: {} })],
  ])("get no session for %s", async (_what, body) => {
    const asked = new Request(requestOf(undefined), { body, method: "POST" });
    const response = await http.fetch(asked);
    await response.text();
    expect(response.headers.has("mcp-session-id")).toBe(false);
  });
});

describe("the sessions of a server", () => {
  const LIMITS = { max: 2, idleMs: 30 * MINUTE };
  let sessions: Sessions;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = fakeClock();
    const needs = await front();
    sessions = createSessions(
      { build: createBuildServer(needs), now: clock, log: needs.log },
      LIMITS,
    );
  });
  afterEach(() => sessions.close());

  const openSession = async () => {
    const response = await sessions.open(requestOf(HELLO), ANN, HELLO);
    await response.text();
    return { status: response.status, id: response.headers.get("mcp-session-id") ?? "", response };
  };

  const listen = (id: string): Promise<Response> => {
    const headers = { accept: "text/event-stream", "mcp-session-id": id };
    return sessions.handle(id, requestOf(undefined, headers, "GET"), ANN);
  };

  it("are limited: the one that is idle the longest is closed", async () => {
    const first = await openSession();
    clock.advance(1);
    const second = await openSession();
    clock.advance(1);
    const third = await openSession();
    expect(sessions.count()).toBe(2);
    const known = await Promise.all(
      [first, second, third].map(async ({ id }) => (await listen(id)).status),
    );
    expect(known).toEqual([404, 200, 200]);
  });

  verifies("C-65");
  it("are not closed for a caller with many sessions", async () => {
    const bob = toAuthInfo(createCaller("bob"));
    const few = await sessions.open(requestOf(HELLO), bob, HELLO);
    await few.text();
    clock.advance(1);
    for (let count = 0; count < 3; count += 1) {
      await openSession();
      clock.advance(1);
    }
    const id = few.headers.get("mcp-session-id") ?? "";
    const headers = { accept: "text/event-stream", "mcp-session-id": id };
    const asked = requestOf(undefined, headers, "GET");
    expect((await sessions.handle(id, asked, bob)).status).toBe(200);
    expect(sessions.count()).toBe(2);
  });

  verifies("C-65", "C-79");
  it("leave room for others when one caller has a stream open in each", async () => {
    const all = [await openSession(), await openSession()];
    const streams = await Promise.all(all.map(({ id }) => listen(id)));
    const bob = toAuthInfo(createCaller("bob"));
    const opened = await sessions.open(requestOf(HELLO), bob, HELLO);
    await opened.text();
    expect(opened.status).toBe(200);
    expect(sessions.count()).toBe(2);
    expect(await Promise.all(all.map(async ({ id }) => (await listen(id)).status))).toContain(404);
    await Promise.allSettled(streams.map(async ({ body }) => body?.cancel()));
  });

  it("are refused when all are in use, with Retry-After", async () => {
    const open = await Promise.all([openSession(), openSession()]);
    const streams = await Promise.all(open.map(({ id }) => listen(id)));
    const refused = await openSession();
    expect([refused.status, refused.response.headers.get("retry-after")]).toEqual([503, "30"]);
    await streams[0]?.body?.cancel();
    expect((await openSession()).status).toBe(200);
  });

  it("end after the idle time, unless a stream is open", async () => {
    const [listening, silent] = [await openSession(), await openSession()];
    const stream = await listen(listening.id);
    clock.advance(LIMITS.idleMs + 1);
    await sessions.sweep();
    expect(sessions.count()).toBe(1);
    expect((await listen(silent.id)).status).toBe(404);
    await stream.body?.cancel();
    clock.advance(LIMITS.idleMs + 1);
    await sessions.sweep();
    expect(sessions.count()).toBe(0);
  });

  it("are not opened by a refused initialize request", async () => {
    const response = await sessions.open(requestOf(HELLO, { accept: "text/plain" }), ANN, HELLO);
    expect(response.status).toBe(406);
    expect(sessions.count()).toBe(0);
  });
});
