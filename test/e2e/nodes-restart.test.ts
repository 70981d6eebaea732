import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askFrom } from "../support/addresses.ts";
import { createDice } from "../support/dice.ts";
import { type Cluster, type Node, startCluster, TOKEN } from "../support/cluster.ts";
import { callerOf, connectHost, signIn, YES } from "../support/cluster-walk.ts";
import { HAS_NGINX } from "../support/nginx.ts";
import { CONFIGURATION, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const REQUESTS = 5000;
const CONNECTIONS = 12;
const CATEGORIES = `${CONFIGURATION}/categories`;
const VERSION = "2026-07-28";

const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "load", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe.skipIf(!HAS_NGINX)("nodes behind nginx that end (needs nginx)", () => {
  let cluster: Cluster;
  let admin: Person;
  beforeAll(async () => {
    cluster = await startCluster();
    admin = await signIn(cluster);
    const body = { code: "FIRST", description: "First" };
    const { status, text } = await admin.call("POST", CATEGORIES, { body });
    if (status !== 201) throw new Error(text);
  });
  afterAll(() => cluster?.close());

  /** Counts the attempts of the load, whose codes must differ. */
  let loads = 0;
  const categories = async (): Promise<string[]> => {
    const { body } = await admin.call("GET", CATEGORIES);
    return (body as { code: string }[]).map(({ code }) => code);
  };

  /** A tool call of 2026; returns what went wrong. */
  const callTool = async (id: number): Promise<string | undefined> => {
    const params = { name: "categories_list", arguments: {}, _meta: META };
    const response = await fetch(cluster.mcpUrl, {
      method: "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": VERSION,
        "mcp-method": "tools/call",
        "mcp-name": "categories_list",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
    });
    const text = await response.text();
    return response.ok && text.includes("FIRST") ? undefined : `${response.status} ${text}`;
  };

  const create = async (code: string): Promise<string | undefined> => {
    const body = { code, description: "Made under load" };
    const { status, text } = await admin.call("POST", CATEGORIES, { body });
    return status === 201 ? undefined : `${status} ${text}`;
  };

  const read = async (): Promise<string | undefined> => {
    const { status, text } = await admin.call("GET", `${CATEGORIES}/code/FIRST`);
    return status === 200 ? undefined : `${status} ${text}`;
  };

  const restart = async (node: Node): Promise<number | null> => {
    const status = await node.end("SIGTERM");
    await node.start();
    return status;
  };

  verifies("OP-23", "OP-22");
  it("lose none of 5,000 requests while they restart one by one", async () => {
    const host = await connectHost(cluster, "legacy");
    const failed: string[] = [];
    let [sent, made] = [0, 0];
    loads += 1;
    const codes = `LOAD-${loads}-`;
    const restarted = new AbortController();
    const attempt = (turn: number): Promise<string | undefined> => {
      if (turn % 20 === 0) return create(`${codes}${(made += 1)}`);
      if (turn % 3 === 0) return callTool(turn);
      return read();
    };
    const load = async (): Promise<void> => {
      while (!restarted.signal.aborted || sent < REQUESTS) {
        sent += 1;
        const problem = await attempt(sent).catch((error: unknown) => String(error));
        if (problem !== undefined) failed.push(problem);
      }
    };
    /** A session of 2025 goes on, and its questions are answered. */
    const converse = async (): Promise<void> => {
      for (let call = 0; !restarted.signal.aborted; call += 1) {
        sent += 1;
        const code = { code: `TALK-${call}`, description: "Made in a session" };
        const answer = await host
          .call("departments_create", code)
          .then(({ structuredContent }) =>
            host.call("departments_delete", { departmentId: structuredContent?.["departmentId"] }),
          )
          .catch((error: unknown) => ({ isError: true, content: String(error) }));
        if (answer.isError === true) failed.push(JSON.stringify(answer.content));
      }
    };
    const loading = [...Array.from({ length: CONNECTIONS }, load), converse()];
    const statuses: (number | null)[] = [];
    for (const node of [...cluster.platforms, ...cluster.servers]) {
      statuses.push(await restart(node));
    }
    restarted.abort();
    await Promise.all(loading);
    expect(failed, await cluster.proxy.log()).toEqual([]);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    expect(statuses).toEqual([0, 0, 0, 0]);
    expect((await categories()).filter((code) => code.startsWith(codes))).toHaveLength(made);
    await host.close();
    // As long as 5,000 requests take on a machine that is busy with other work.
  }, 600_000);

  verifies("OP-23");
  it("answer /ready with 503 and other requests with 200 before they end", async () => {
    const [node] = cluster.platforms;
    const at = (path: string): Promise<number | string> =>
      askFrom(`http://127.0.0.1:${node?.port}${path}`, {}).then(
        ({ status }) => status,
        () => "refused",
      );
    expect(await at("/ready")).toBe(200);
    const ended = node?.end("SIGTERM");
    await expect.poll(() => at("/ready"), { interval: 20 }).toBe(503);
    expect(await at("/health")).toBe(200);
    expect(await ended).toBe(0);
    expect(await at("/health")).toBe("refused");
    await node?.start();
  });

  verifies("OP-22", "OP-23");
  it.each([
    ["2026", "auto", "SIGTERM"],
    ["2026", "auto", "SIGKILL"],
    ["2025", "legacy", "SIGTERM"],
    ["2025", "legacy", "SIGKILL"],
  ] as const)(
    "act once on a question of %s whose node ends before the answer (%s, %s)",
    async (_era, mode, how) => {
      const [asking, other] = cluster.servers as [Node, Node];
      let asked = 0;
      let ended: Promise<unknown> | undefined;
      const host = await connectHost(cluster, mode, async () => {
        asked += 1;
        if (asked === 1) {
          await other.start();
          ended = asking.end(how);
          await ended;
        }
        return YES;
      });
      const made = await admin.call("POST", `${CONFIGURATION}/departments`, {
        body: { code: `ASKED-${mode}-${how}`, description: "To be deleted" },
      });
      const { departmentId } = made.body as { departmentId: string };
      const path = `${CONFIGURATION}/departments/${departmentId}`;
      // A killed node of 2025 leaves its call without an answer.
      const timeout = how === "SIGKILL" ? 15_000 : 60_000;
      const remove = (): Promise<{ isError?: boolean | undefined; content: unknown }> =>
        host.client
          .callTool({ name: "departments_delete", arguments: { departmentId } }, { timeout })
          .catch((error: unknown) => ({ isError: true, content: error }));
      // From here on the node that asks is the only one.
      await other.end("SIGTERM");
      const answer = await remove();
      expect(asked).toBe(1);
      await ended;
      await asking.start();
      const { status } = await admin.call("GET", path);
      if (mode === "legacy" && how === "SIGTERM") {
        expect(JSON.stringify(answer.content)).toContain("unavailable: The server restarts");
        expect(status).toBe(200);
      }
      if (answer.isError !== true) expect(status).toBe(404);
      // A host that got no answer, or a refusal, asks its person again.
      else if (status === 200) expect((await remove()).isError).not.toBe(true);
      expect((await admin.call("GET", path)).status).toBe(404);
      const logs = callerOf(cluster, { "X-API-Key": cluster.extApiKey });
      const log = `/api/v1/remittance-export/audit-logs?resourceId=${departmentId}&limit=100`;
      const entries = (await logs("GET", log)).body.data as {
        method: string;
        statusCode: number;
      }[];
      const deleted = entries.filter(
        ({ method, statusCode }) => method === "DELETE" && statusCode < 300,
      );
      expect(deleted).toHaveLength(1);
      await host.close();
    },
  );

  it("lose nothing that was acknowledged when one is killed", async () => {
    const dice = createDice(42);
    const nodes = cluster.platforms;
    const keyed = callerOf(cluster, { "X-API-Key": cluster.extApiKey });
    const schedules = "/api/v1/remittance-export/schedules";
    const schedule = await keyed("POST", schedules, {
      body: {
        source: "cashapp",
        intervalMs: 300_000,
        firstRunAt: new Date(Date.now() + 3000).toISOString(),
        filters: { currencyCode: { eq: "USD" } },
      },
    });
    expect(schedule.status, schedule.text).toBe(201);
    const known: string[] = [];
    const done = new AbortController();
    const write = async (mark: number): Promise<void> => {
      for (let count = 0; !done.signal.aborted; count += 1) {
        const body = { code: `KILL-${mark}-${count}`, description: "Made around a crash" };
        const headers = { "Idempotency-Key": `kill-${mark}-${count}` };
        let status = 0;
        while (status !== 201) {
          const reply = await admin
            .call("POST", CATEGORIES, { body, headers })
            .catch(() => ({ status: 0 }));
          ({ status } = reply);
        }
        known.push(body.code);
      }
    };
    const writers = [1, 2, 3, 4].map(write);
    for (let kill = 0; kill < 3; kill += 1) {
      const node = dice.pick(nodes);
      await delay(dice.whole(500, 2000));
      await node.end("SIGKILL");
      await node.start();
    }
    done.abort();
    await Promise.all(writers);
    const stored = (await categories()).filter((code) => code.startsWith("KILL-"));
    expect(stored.toSorted()).toEqual(known.toSorted());
    const runs = `/api/v1/remittance-export/export-runs/${String(schedule.body.id)}/status`;
    await expect
      .poll(async () => (await keyed("GET", runs)).text, { timeout: 100_000, interval: 500 })
      .toContain('"completed"');
  });
});
