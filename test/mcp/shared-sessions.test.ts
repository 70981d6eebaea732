import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSharedSessions } from "../../src/records/shared-sessions.ts";
import type { Changes } from "../../src/kit/changes.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createPostgresChanges } from "../../src/kit/postgres/changes.ts";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import type { OauthStore } from "../../src/records/port.ts";
import { createStorage } from "../../src/records/storage.ts";
import { VIEWS_SUPPORT } from "../../src/views/views.ts";
import { type Database, type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { createOptions, KEY } from "./hosts.ts";
import { ADDRESS, requestOf } from "./messages.ts";
import { scriptBroker } from "./script.ts";
import { trustingGate } from "./trusting-gate.ts";

const RUNS = "receivables://export-runs/s-1";
const INFO = { name: "test", version: "1" };
const FAR = "2999-01-01T00:00:00.000Z";

const capabilities = { elicitation: {} };
const DELETE = { name: "departments_delete", arguments: { departmentId: "d" } };
const LIST = { jsonrpc: "2.0", id: 7, method: "prompts/list" };

const [, postgres] = dialects as [Dialect, Dialect];

let database: Database;
let changes: Changes[];
let stores: OauthStore[];
let nodes: HttpServer[];
let ends: (() => Promise<unknown>)[];
/** The request that each node gets next; by default they take turns. */
let turn = 0;
let runs: { runId: string; status: string }[];
/** The signals of calls of `departments_get`, which wait until they are canceled. */
let waiting: (AbortSignal | undefined)[];

const openNode = async (): Promise<HttpServer> => {
  const store = await database.openOauth();
  const own = createPostgresChanges(database.environment["DATABASE_URL"] ?? "", silentLog);
  const options = await createOptions(
    scriptBroker({
      "departments.get_by_id": () => ({ departmentId: "d" }),
      "departments.get": (_args, { signal }) => {
        waiting.push(signal);
        return new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("canceled")));
        });
      },
      "departments.delete": () => null,
      "export_runs.status": () => ({
        schedule: { id: "s-1", nextRunAt: FAR, deleted: false },
        data: runs.map((run) => ({ scheduleId: "s-1", ...run })),
        pagination: { cursor: null, hasMore: false, rowCount: runs.length },
      }),
    }),
  );
  const storage = createStorage(store, systemClock);
  const sessions = createSharedSessions({ storage, changes: own, key: KEY, now: systemClock });
  const node = createHttpServer(options, {
    gate: trustingGate,
    shared: { sessions, changes: own },
  });
  changes.push(own);
  stores.push(store);
  ends.push(async () => {
    await node.close();
    await own.close();
    await store.close();
  });
  return node;
};

const fetchFrom = (node: HttpServer | undefined, request: Request): Promise<Response> => {
  request.headers.set("host", "127.0.0.1:8765");
  request.headers.set("authorization", "ann read write admin");
  return node?.fetch(request) ?? Promise.reject(new Error("no node"));
};

const fetchInTurn = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
  turn += 1;
  return fetchFrom(nodes[turn % nodes.length], new Request(url, init));
};

beforeEach(async () => {
  database = await postgres.create();
  [turn, changes, stores, ends, runs, waiting] = [0, [], [], [], [], []];
  nodes = [await openNode(), await openNode()];
});
afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  await database.remove();
});

const connect = async (): Promise<{ client: Client; questions: string[]; updates: string[] }> => {
  const client = new Client(INFO, { capabilities, versionNegotiation: { mode: "legacy" } });
  const [questions, updates]: string[][] = [[], []];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    questions?.push(params.message);
    return { action: "accept" as const, content: { confirm: true } };
  });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updates?.push(params.uri);
  });
  const url = new URL(ADDRESS);
  await client.connect(new StreamableHTTPClientTransport(url, { fetch: fetchInTurn }));
  return { client, questions: questions ?? [], updates: updates ?? [] };
};

const send = (node: number, id: string, body?: object, method = "POST"): Promise<Response> =>
  fetchFrom(nodes[node], requestOf(body, { "mcp-session-id": id }, method));

const statusAt = async (node: number, id: string): Promise<number> => {
  const response = await send(node, id, LIST);
  await response.text();
  return response.status;
};

const idOf = (client: Client): string =>
  (client.transport as StreamableHTTPClientTransport).sessionId ?? "";

describe("a session of 2025 at two nodes without affinity", () => {
  verifies("OP-22", "OP-20");
  it("is asked by the node of the call, and answers at any node", async () => {
    const { client, questions } = await connect();
    for (let call = 0; call < 5; call += 1) {
      // An odd number of requests between two calls, so that answers reach either node.
      await client.listPrompts();
      const result = await client.callTool(DELETE);
      expect(result.structuredContent).toMatchObject({ deleted: true });
    }
    expect(questions).toHaveLength(5);
    await client.close();
  });

  verifies("WK-12");
  it("confirms in its view at the node that did not ask", async () => {
    const client = new Client(INFO, {
      capabilities: { extensions: VIEWS_SUPPORT },
      versionNegotiation: { mode: "legacy" },
    });
    const url = new URL(ADDRESS);
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: fetchInTurn }));
    const asked = await client.callTool(DELETE);
    expect(asked.structuredContent).toMatchObject({ waiting: expect.anything() });
    const ticket = asked._meta?.["receivables/ticket"];
    const done = await client.callTool({ name: "confirm_call", arguments: { ticket } });
    expect(done.structuredContent).toMatchObject({ deleted: true });
    await client.close();
  });

  it("answers with the SDK's older client", async () => {
    const client = new OldClient(INFO, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "decline" as const }));
    await client.connect(new OldTransport(new URL(ADDRESS), { fetch: fetchInTurn }));
    const results = [await client.callTool(DELETE), await client.callTool(DELETE)];
    expect(JSON.stringify(results)).toContain("did not confirm");
    await client.close();
  });

  it("is notified of a subscription that another node took, also after its node has ended", async () => {
    const { client, updates } = await connect();
    await client.subscribeResource({ uri: RUNS });
    await client.subscribeResource({ uri: `${RUNS}/run-2` });
    await client.subscribeResource({ uri: `${RUNS}/run-9` });
    await client.unsubscribeResource({ uri: `${RUNS}/run-9` });
    runs = [{ runId: "run-1", status: "completed" }];
    await expect
      .poll(async () => {
        await changes[0]?.announce("export-runs s-1");
        return updates;
      })
      .toEqual([RUNS]);
    // The run ends while the session has no stream.
    await ends.shift()?.();
    await ends.shift()?.();
    runs = [...runs, { runId: "run-2", status: "failed" }, { runId: "run-9", status: "failed" }];
    nodes = [await openNode()];
    await expect.poll(() => updates.slice(1)).toEqual(expect.arrayContaining([`${RUNS}/run-2`]));
    expect(updates).not.toContain(`${RUNS}/run-9`);
    await client.close();
  });

  it("ends at every node when the host ends it, with its stream", async () => {
    const { client } = await connect();
    const id = idOf(client);
    await client.close();
    const stream = await send(0, id, undefined, "GET");
    expect([stream.status, await statusAt(1, id)]).toEqual([200, 200]);
    expect((await send(1, id, undefined, "DELETE")).status).toBe(200);
    const after = await Promise.all(
      [0, 1].map(async (node) => (await send(node, id, LIST)).status),
    );
    expect(after).toEqual([404, 404]);
    expect(await stream.text()).not.toContain("error");
  });

  it("is told to try again where the database cannot be read", async () => {
    const { client } = await connect();
    await stores[1]?.close();
    const response = await send(1, idOf(client), LIST);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await statusAt(0, idOf(client))).toBe(200);
    nodes = nodes.slice(0, 1);
    await client.close();
  });

  it("cancels a call at the node that runs it", async () => {
    const { client } = await connect();
    const params = { name: "departments_get", arguments: { departmentCode: "D" } };
    const call = await send(0, idOf(client), {
      jsonrpc: "2.0",
      id: "call",
      method: "tools/call",
      params,
    });
    expect(call.status).toBe(200);
    await expect.poll(() => waiting.length).toBe(1);
    const canceled = { jsonrpc: "2.0", method: "notifications/cancelled" };
    const sent = await send(1, idOf(client), { ...canceled, params: { requestId: "call" } });
    expect(sent.status).toBe(202);
    await expect.poll(() => waiting[0]?.aborted).toBe(true);
    await call.body?.cancel();
    await client.close();
  });

  it("belongs to its caller, and stores nothing for responses that no node expects", async () => {
    const { client } = await connect();
    const response = { jsonrpc: "2.0", id: "made-up", result: { action: "accept" } };
    expect((await send(0, idOf(client), response)).status).toBe(202);
    const store = await database.openOauth();
    const rows = await store.read
      .selectFrom("sign_in_records")
      .select("kind")
      .where("kind", "=", "McpRequest")
      .execute();
    await store.close();
    expect(rows).toEqual([]);
    const of = { authorization: "bob read", "mcp-session-id": idOf(client) };
    const other = requestOf(LIST, of);
    expect((await nodes[1]?.fetch(other))?.status).toBe(404);
    await client.close();
  });
});
