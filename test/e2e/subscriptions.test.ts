import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLI, type Ready, runCli, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const HOST = { name: "host", version: "1.0.0" };
const AS_SLOW_AS_MAY_BE = { timeout: 60_000, interval: 100 };

type Door = "stdio" | "HTTP" | "stdio to a remote platform";
const DOORS: readonly Door[] = ["stdio", "HTTP", "stdio to a remote platform"];

/** The functions of a host that the test uses, for every SDK and era. */
type Host = {
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  told: string[];
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
};

const folder = useFolder();
let server: Running;
let ready: Ready;
let key: string;

beforeAll(async () => {
  const data = { RECEIVABLES_DATA: join(folder, "data") };
  server = startCli(["http", "--port", "0"], data);
  ready = await whenReady(server);
  const issued = await runCli(["admin", "key", "issue", "--tenant", "demo", "--name", "far"], data);
  key = JSON.parse(issued.stdout).apiKey;
});
afterAll(() => server.end("SIGTERM"));

const environment = (door: Door): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  ...(door === "stdio"
    ? { RECEIVABLES_DATA: join(folder, "data") }
    : {
        RECEIVABLES_DATA: join(folder, "far"),
        RECEIVABLES_BASE_URL: ready.baseUrl,
        RECEIVABLES_TENANT_ID: "demo",
        RECEIVABLES_EXT_API_KEY: key,
      }),
});

type Either = Client | OldClient;

const hostOf = (
  client: Either,
  told: string[],
  rest: Pick<Host, "subscribe" | "unsubscribe">,
): Host => ({
  ...rest,
  told,
  async call(name, args) {
    const { isError, structuredContent, content } = await client.callTool({
      name,
      arguments: args,
    });
    if (isError === true) throw new Error(JSON.stringify(content));
    return structuredContent as Record<string, unknown>;
  },
  async read(uri) {
    const { contents } = await client.readResource({ uri });
    return JSON.stringify(contents);
  },
  close: () => client.close(),
});

const stdioOf = (door: Door) => ({
  command: process.execPath,
  args: [CLI, "stdio"],
  env: environment(door),
  stderr: "ignore" as const,
});

const newHost = async (door: Door, mode: "auto" | "legacy"): Promise<Host> => {
  const client = new Client(HOST, { capabilities: {}, versionNegotiation: { mode } });
  const told: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    told.push(params.uri);
  });
  const web = new StreamableHTTPClientTransport(new URL(ready.mcpUrl ?? ""));
  await client.connect(door === "HTTP" ? web : new StdioClientTransport(stdioOf(door)));
  if (mode === "legacy") {
    return hostOf(client, told, {
      subscribe: async (uri) => void (await client.subscribeResource({ uri })),
      unsubscribe: async (uri) => void (await client.unsubscribeResource({ uri })),
    });
  }
  const open = new Map<string, { close(): Promise<void> }>();
  return hostOf(client, told, {
    async subscribe(uri) {
      const listening = await client.listen({ resourceSubscriptions: [uri] });
      expect(listening.honoredFilter).toEqual({ resourceSubscriptions: [uri] });
      open.set(uri, listening);
    },
    unsubscribe: async (uri) => open.get(uri)?.close(),
  });
};

const oldHost = async (door: Door): Promise<Host> => {
  const client = new OldClient(HOST, { capabilities: {} });
  const told: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    told.push(params.uri);
  });
  const web = new OldHttp(new URL(ready.mcpUrl ?? ""));
  await client.connect(door === "HTTP" ? web : new OldStdio(stdioOf(door)));
  return hostOf(client, told, {
    subscribe: async (uri) => void (await client.subscribeResource({ uri })),
    unsubscribe: async (uri) => void (await client.unsubscribeResource({ uri })),
  });
};

const HOSTS = [
  ["2.x client, 2026", (door: Door) => newHost(door, "auto")],
  ["2.x client, 2025", (door: Door) => newHost(door, "legacy")],
  ["1.x client, 2025", oldHost],
] as const;

const uriOf = (scheduleId: string): string => `receivables://export-runs/${scheduleId}`;

/** A schedule whose first run is due so long from now. */
const schedule = async (host: Host, ms: number): Promise<{ id: string; due: number }> => {
  const due = Date.now() + ms;
  const firstRunAt = new Date(due).toISOString();
  const filters = { currencyCode: { eq: "USD" } };
  const body = { source: "cashapp", intervalMs: 300_000, firstRunAt, filters };
  return { id: String((await host.call("schedules_create", body))["id"]), due };
};

/** Subscribes to a schedule before its run is due, however slow this machine is. */
const subscribed = async (host: Host, ms = 3000): Promise<string> => {
  const { id, due } = await schedule(host, ms);
  await host.subscribe(uriOf(id));
  return Date.now() < due ? uriOf(id) : subscribed(host, 2 * ms);
};

describe.each(DOORS)("subscribers over %s", (door) => {
  // Each test's own `expect`: the common one does not know which of several at a time is meant.
  verifies("SC-14");
  it.concurrent.for(HOSTS)(
    "are notified when a run completes (%s)",
    async ([, open], { expect }) => {
      const host = await open(door);
      const left = uriOf((await schedule(host, 3000)).id);
      await host.subscribe(left);
      await host.unsubscribe(left);
      const told = host.told.length;
      const uri = await subscribed(host);
      await expect.poll(() => host.told, AS_SLOW_AS_MAY_BE).toContain(uri);
      expect(await host.read(uri)).toContain("completed");
      await expect.poll(() => host.read(left), AS_SLOW_AS_MAY_BE).toContain("completed");
      expect(host.told.slice(told)).not.toContain(left);
      await host.close();
    },
  );
});
