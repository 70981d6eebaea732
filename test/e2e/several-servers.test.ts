import { randomBytes } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { createServer, request as forward } from "node:http";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Result } from "../mcp/hosts.ts";
import {
  BEFORE_THE_CUT_MS,
  type Ready,
  type Running,
  runCli,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { closeNow, listen } from "../support/listen.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const VERSION = "2026-07-28";

type Balancer = { url: string; close(): Promise<void> };

/** One address before several servers: each request goes to the next one. */
const balance = async (targets: string[]): Promise<Balancer> => {
  let next = 0;
  const server = createServer((request, response) => {
    const target = targets[next % targets.length] ?? "";
    next += 1;
    const { method, url = "", headers } = request;
    const onward = forward(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  return { url: `http://127.0.0.1:${await listen(server)}/mcp`, close: () => closeNow(server) };
};

type Round = Result & { requestState?: string; inputRequests?: Record<string, unknown> };

const post = (url: string, method: string, params: Record<string, unknown>, asks: boolean) => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": asks ? { elicitation: { form: {} } } : {},
  };
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
};

const call = async (
  url: string,
  name: string,
  args: object,
  more: object & { asks?: boolean } = {},
): Promise<Round> => {
  const { asks = false, ...rest } = more;
  const response = await post(url, "tools/call", { name, arguments: args, ...rest }, asks);
  return ((await response.json()) as { result: Round }).result;
};

/** Creates the demo tenant in a database that nodes share, and gives each node its credentials. */
const createSharedDemo = async (nodes: readonly Record<string, string>[]): Promise<void> => {
  const [first = {}, ...others] = nodes;
  const { status, stderr } = await runCli(["admin", "demo", "create"], first);
  expect([status, stderr]).toEqual([0, ""]);
  const sealed = (node: Record<string, string>) =>
    join(node["RECEIVABLES_DATA"] ?? "", "demo.sealed");
  await Promise.all(
    others.map(async (node) => {
      await mkdir(node["RECEIVABLES_DATA"] ?? "", { recursive: true });
      await copyFile(sealed(first), sealed(node));
    }),
  );
};

/** Two nodes on one database share that, the file store and the master key; embedded, the data folder is all three. */
const nodesOn = (database: Database): Record<string, string>[] => {
  const { environment } = database;
  const node = (name: string) =>
    environment["DATABASE_URL"] === undefined
      ? environment
      : {
          ...environment,
          RECEIVABLES_DATA: join(environment["RECEIVABLES_DATA"] ?? "", name),
          RECEIVABLES_FILES_URL: join(environment["RECEIVABLES_DATA"] ?? "", "files"),
        };
  const key = { RECEIVABLES_SECRET_KEY: randomBytes(32).toString("base64") };
  return ["one", "two"].map((name) => ({ ...node(name), ...key, RECEIVABLES_LOG: "warn" }));
};

describe.each(dialects)("two servers behind one address, on one $name", (dialect) => {
  let database: Database;
  let servers: Running[] = [];
  let nodes: Record<string, string>[];
  let urls: [string, string];
  let balancer: Balancer;
  let made = 0;
  beforeAll(async () => {
    database = await dialect.create();
    // At once: what the first start makes is made once.
    nodes = nodesOn(database);
    if (database.environment["DATABASE_URL"] !== undefined) await createSharedDemo(nodes);
    servers = nodes.map((env) => startCli(["http", "--port", "0"], env));
    const ready: Ready[] = await Promise.all(servers.map(whenReady));
    urls = ready.map(({ baseUrl }) => `${baseUrl}/mcp`) as [string, string];
    balancer = await balance(ready.map(({ baseUrl }) => baseUrl));
  });
  afterAll(async () => {
    await balancer.close();
    await Promise.all(servers.map((server) => server.end("SIGTERM")));
    await database.remove();
  });

  const department = async (): Promise<{ departmentId: unknown }> => {
    made += 1;
    const code = { code: `MADE-${made}`, description: "Made to be deleted" };
    const { structuredContent } = await call(balancer.url, "departments_create", code);
    return { departmentId: structuredContent?.["departmentId"] };
  };

  verifies("C-66");
  it("answers a question that the other server asked, once", async () => {
    const args = await department();
    const asked = await call(urls[0], "departments_delete", args, { asks: true });
    const { requestState, inputRequests = {} } = asked;
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests).map((key) => [
        key,
        { action: "accept", content: { confirm: true } },
      ]),
    );
    const yes = { asks: true, requestState, inputResponses };
    const gone = await call(urls[1], "departments_delete", args, yes);
    expect(gone.structuredContent).toMatchObject({ deleted: true });
    for (const url of urls) {
      const again = await call(url, "departments_delete", args, yes);
      expect(again.content[0]?.text).toMatch(/^confirmation_invalid: .*has been used/);
    }
  });

  verifies("C-66", "C-105");
  it("accepts a confirmation token once, on either server", async () => {
    const args = await department();
    const asked = await call(balancer.url, "departments_delete", args);
    const confirmation = asked._meta?.["receivables/confirmation"] as { confirmationToken: string };
    const { confirmationToken } = confirmation;
    const calls = [0, 1, 0, 1].map((index) =>
      call(urls[index] ?? "", "departments_delete", { ...args, confirmationToken }),
    );
    const answers = await Promise.all(calls);
    const done = answers.filter(({ isError }) => isError !== true);
    expect(done.map(({ structuredContent }) => structuredContent)).toMatchObject([
      { deleted: true },
    ]);
  });

  it("returns the next page of a list on either server", async () => {
    const seen: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; page < 4; page += 1) {
      const args = { PageSize: 3, ...(cursor === undefined ? {} : { cursor }) };
      const { structuredContent = {} } = await call(balancer.url, "disputes_list", args);
      const items = structuredContent["items"] as { disputeId: string }[];
      seen.push(...items.map(({ disputeId }) => disputeId));
      cursor = structuredContent["nextCursor"];
    }
    expect(new Set(seen).size).toBe(12);
  });

  it("are one server to a host of 2026", async () => {
    const client = new Client(
      { name: "test", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
    );
    client.setRequestHandler("elicitation/create", () => ({
      action: "accept",
      content: { confirm: true },
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(balancer.url)));
    for (let round = 0; round < 3; round += 1) {
      const args = await department();
      const gone = await client.callTool({ name: "departments_delete", arguments: args });
      expect(gone.structuredContent).toMatchObject({ deleted: true });
    }
    await client.close();
  });

  verifies("C-17");
  it("end their open streams when they are stopped", async () => {
    const own = startCli(["http", "--port", "0"], nodes[0] ?? {});
    const { mcpUrl = "" } = await whenReady(own);
    const listening = await post(mcpUrl, "subscriptions/listen", { filter: {} }, false);
    expect(listening.status).toBe(200);
    const heard = listening.text().catch(() => "cut");
    const { status, ms } = await own.end("SIGTERM");
    expect([status, ms < BEFORE_THE_CUT_MS]).toEqual([0, true]);
    expect(await heard).not.toBe("cut");
  });
});
