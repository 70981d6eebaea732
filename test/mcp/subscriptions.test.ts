import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import type { Caller } from "../../src/mcp/caller.ts";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import type { ToolContext } from "../../src/mcp/tools/tool-context.ts";
import { trustingGate } from "./trusting-gate.ts";
import { connectLegacy, connectModern, createOptions, ERAS } from "./hosts.ts";
import { ADDRESS, META, requestOf } from "./messages.ts";
import { type ScriptedReply, scriptBroker, type ScriptedBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const RUNS = "receivables://export-runs/s-1";
const SLOWLY = { timeout: 30_000 };

const statusOf = (status: string) => ({
  schedule: { id: "s-1", nextRunAt: "2999-01-01T00:00:00.000Z", deleted: false },
  data: [{ runId: "run-1", scheduleId: "s-1", status }],
  pagination: { cursor: null, hasMore: false, rowCount: 1 },
});

/** A run that has completed at the second read. */
const completing = (): ScriptedReply => {
  let asked = 0;
  return ({ scheduleId }) => {
    if (scheduleId !== "s-1") throw new Problem("not_found", "There is no such schedule.");
    asked += 1;
    return statusOf(asked === 1 ? "running" : "completed");
  };
};

const PLAYS: Record<string, () => ScriptedReply> = {
  ann: completing,
  bob: () => () => statusOf("running"),
  // Asked again, the platform does not answer.
  cyd: () => {
    let asked = 0;
    return () => {
      asked += 1;
      return asked === 1 ? statusOf("running") : new Promise(() => {});
    };
  },
};

describe.each(ERAS)("subscriptions over HTTP as of %s", (_era, mode) => {
  let http: HttpServer;
  let brokers: Map<string, ScriptedBroker>;
  beforeEach(async () => {
    brokers = new Map();
    const first = await createOptions(scriptBroker({}));
    const open = async ({ id }: Caller): Promise<ToolContext> => {
      const broker = scriptBroker({ "export_runs.status": PLAYS[id]?.() ?? completing() });
      brokers.set(id, broker);
      return { ...first, broker, caller: id };
    };
    http = createHttpServer({ ...first, open }, { gate: trustingGate });
  });
  afterEach(() => http.close());

  const as = async (who: string) => {
    const client = new Client(
      { name: "test", version: "1" },
      { capabilities: {}, versionNegotiation: { mode } },
    );
    const told: string[] = [];
    const lost = new AbortController();
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      told.push(params.uri);
    });
    // A closed connection stops the transfer of the response too.
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const asked = new Request(url, { ...init, signal: null });
      asked.headers.set("host", "127.0.0.1:8765");
      asked.headers.set("authorization", who);
      const response = await http.fetch(asked);
      if (response.body === null) return response;
      const cut = new AbortController();
      for (const signal of [lost.signal, init?.signal]) {
        signal?.addEventListener("abort", () => cut.abort());
      }
      const body = response.body.pipeThrough(new TransformStream(), { signal: cut.signal });
      return new Response(body, response);
    };
    await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
    const subscribe = async (uri: string): Promise<{ close(): Promise<unknown> }> => {
      if (mode === "auto") return client.listen({ resourceSubscriptions: [uri] });
      await client.subscribeResource({ uri });
      return { close: () => client.unsubscribeResource({ uri }) };
    };
    return { client, told, subscribe, lose: () => lost.abort() };
  };
  const asked = (who: string) => brokers.get(who)?.seen ?? [];

  verifies("C-65");
  it("each is notified of their own runs, even if the URIs are the same", async () => {
    const [ann, bob] = await Promise.all([as("ann read"), as("bob read")]);
    await ann.subscribe(RUNS);
    await ann.subscribe(`${RUNS}/run-1`);
    await ann.subscribe(`${RUNS}/run-2`);
    await bob.subscribe(RUNS);
    await expect.poll(() => ann.told.toSorted(), SLOWLY).toEqual([RUNS, `${RUNS}/run-1`]);
    await expect.poll(() => asked("bob").length, SLOWLY).toBeGreaterThan(1);
    expect(bob.told).toEqual([]);
    expect(asked("ann")[0]?.options.tool).toBe("resources.subscribe");
    await Promise.all([ann.client.close(), bob.client.close()]);
  });

  verifies("C-114");
  it("a session watches at most 100 resources, also of one schedule", async () => {
    const bob = await as("bob read");
    if (mode === "auto") {
      const uris = Array.from({ length: 101 }, (_, at) => `${RUNS}/run-${at}`);
      await expect(bob.client.listen({ resourceSubscriptions: uris })).rejects.toThrow(
        "at most 100 resources",
      );
    } else {
      for (let at = 0; at < 100; at += 1) await bob.subscribe(`${RUNS}/run-${at}`);
      await expect(bob.subscribe(`${RUNS}/run-100`)).rejects.toThrow("at most 100 subscriptions");
      await bob.subscribe(`${RUNS}/run-7`);
      await bob.client.unsubscribeResource({ uri: `${RUNS}/run-7` });
      await bob.subscribe(`${RUNS}/run-100`);
    }
    await bob.client.close();
  });

  it.each(["unsubscribes", "disconnects"])(
    "the platform is not polled any more after the host %s",
    async (how) => {
      const cyd = await as("cyd read");
      const subscription = await cyd.subscribe(RUNS);
      await expect.poll(() => asked("cyd").length, SLOWLY).toBe(2);
      const { signal } = asked("cyd")[1]?.options ?? {};
      expect(signal?.aborted).toBe(false);
      if (how === "unsubscribes") await subscription.close();
      else if (mode === "auto") cyd.lose();
      else await (cyd.client.transport as StreamableHTTPClientTransport).terminateSession();
      await expect.poll(() => signal?.aborted, SLOWLY).toBe(true);
      await cyd.client.close();
    },
  );

  verifies("C-62");
  it("require the scope read", async () => {
    const one = await as("ann write");
    await expect(one.subscribe(RUNS)).rejects.toThrow('Insufficient scope: required "read"');
    expect(asked("ann")).toEqual([]);
    await one.client.close();
  });
});

describe("subscriptions of hosts of 2025", () => {
  it("are refused for resources that never change", async () => {
    const host = await connectLegacy(
      await createOptions(scriptBroker({ "export_runs.status": completing() })),
    );
    const to = (uri: string) => host.client.subscribeResource({ uri });
    await expect(to("receivables://guide")).rejects.toThrow("export-runs/{scheduleId}");
    await expect(to("receivables://export-runs/s-2")).rejects.toMatchObject({ code: -32_602 });
  });

  it("are not offered without the exports", async () => {
    for (const open of [connectLegacy, connectModern]) {
      const host = await open(
        await createOptions(scriptBroker({}), { settings: { toolsets: ["disputes"] } }),
      );
      expect(host.client.getServerCapabilities()?.resources).toEqual({ listChanged: true });
      await host.close();
    }
  });
});

describe("listening over HTTP", () => {
  it("is limited for each caller", async () => {
    const needs = await createOptions(
      scriptBroker({ "export_runs.status": () => statusOf("running") }),
    );
    const http = createHttpServer(needs, { gate: trustingGate });
    const method = "subscriptions/listen";
    const params = { notifications: { resourceSubscriptions: [RUNS] }, _meta: META };
    const headers = {
      authorization: "ann read",
      "mcp-method": method,
      "mcp-protocol-version": "2026-07-28",
    };
    const listen = (id: number) =>
      http.fetch(requestOf({ jsonrpc: "2.0", id, method, params }, headers));
    const open = await Promise.all(Array.from({ length: 50 }, (_, id) => listen(id)));
    expect(open.every(({ headers }) => headers.get("content-type") === "text/event-stream")).toBe(
      true,
    );
    expect(await (await listen(50)).json()).toMatchObject({
      id: 50,
      error: { message: expect.stringContaining("At most 50") },
    });
    await open[0]?.body?.cancel();
    const again = await listen(51);
    expect(again.headers.get("content-type")).toBe("text/event-stream");
    await Promise.all([...open.slice(1), again].map(async ({ body }) => body?.cancel()));
    await http.close();
  });
});
