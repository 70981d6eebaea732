import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { wantsTraces } from "../../src/server/tracing.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { connectStdio, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { closeNow, listen } from "../support/listen.ts";
import { type Database, dialects } from "../support/stores.ts";
import { type ReceivedSpan, startTraceReceiver } from "../support/trace-receiver.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const HOST = "b7ad6b7169203331";
const TOKEN = "canary".padEnd(40, "x");
const TRACEPARENT = `00-${TRACE}-${HOST}-01`;

let collector: Awaited<ReturnType<typeof startTraceReceiver>>;

beforeEach(async () => {
  collector = await startTraceReceiver();
});
afterEach(() => collector.close());

/** The names from the host's span down to the first span of a name. */
const pathTo = (spans: readonly ReceivedSpan[], name: string): string[] => {
  const path: string[] = [];
  for (let span = spans.find((one) => one.name === name); span !== undefined;) {
    path.unshift(span.name);
    const { parentId } = span;
    if (parentId === HOST) return ["host", ...path];
    span = spans.find(({ id }) => id === parentId);
  }
  return path;
};

const ROUTE = "/api/v1/remittance-export/audit-logs";

describe.each(dialects)("a trace with a platform on $name", (dialect) => {
  let database: Database;

  beforeEach(async () => {
    database = await dialect.createMigrated();
  });
  afterEach(() => database.remove());

  const createKey = async (): Promise<string> => {
    const store = await database.open();
    const needs = { store, clock: systemClock, newId: randomId };
    await createTenant(needs, { tenantId: "canary", name: "Acme" });
    const { apiKey } = await issueKey(needs, { tenantId: "canary", name: "test" });
    await store.close();
    return apiKey;
  };

  verifies("OP-32", "OP-33");
  it("leads from the host through both processes to SQL, without values", async () => {
    const apiKey = await createKey();
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const platform = startCli(["platform", "--port", "0"], { ...database.environment, ...traces });
    const { baseUrl } = await whenReady(platform);
    const tokens = join(folder, `tokens-${dialect.name}`);
    await writeFile(tokens, `${TOKEN} default read\n`, { mode: 0o600 });
    const server = startCli(["http", "--port", "0"], {
      ...traces,
      RECEIVABLES_DATA: join(folder, dialect.name),
      RECEIVABLES_BASE_URL: baseUrl,
      RECEIVABLES_TENANT_ID: "canary",
      RECEIVABLES_EXT_API_KEY: apiKey,
      RECEIVABLES_HTTP_TOKENS_FILE: tokens,
    });
    const { mcpUrl = "" } = await whenReady(server);
    const client = new Client({ name: "test", version: "1" });
    const requestInit = {
      headers: { authorization: `Bearer ${TOKEN}`, traceparent: TRACEPARENT },
    };
    await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
    const { isError } = await client.callTool({ name: "audit_logs_list", arguments: {} });
    expect(isError).not.toBe(true);
    await client.close();
    await server.end("SIGTERM");
    await platform.end("SIGTERM");
    // Both log the request with the ids of its span.
    const line = new RegExp(`"http.request".*"traceId":"${TRACE}","spanId":"[0-9a-f]{16}"`);
    expect([server, platform].map(({ texts }) => line.test(texts.stderr))).toEqual([true, true]);
    const { spans } = collector;
    expect(pathTo(spans, "SELECT export_keys")).toEqual([
      "host",
      "POST /mcp",
      "tools/call audit_logs_list",
      `GET ${ROUTE}`,
      `GET ${ROUTE}`,
      "SELECT export_keys",
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(collector.text()).not.toMatch(/canary|rcvx_/);
  });
});

verifies("OP-32");
it("over stdio the trace is that of the request's _meta", async () => {
  const client = await connectStdio({
    RECEIVABLES_DATA: join(folder, "stdio"),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
  });
  await client.callTool({
    name: "disputes_list",
    arguments: { PageSize: 1 },
    _meta: { traceparent: TRACEPARENT },
  });
  await client.close();
  await expect.poll(() => collector.spans.length, { timeout: 10_000 }).toBeGreaterThan(2);
  expect(pathTo(collector.spans, "tools/call disputes_list")).toEqual([
    "host",
    "tools/call disputes_list",
  ]);
});

verifies("OP-32");
it("a collector that refuses is logged in one line, without a stack and without its answer", async () => {
  const refusing = createServer((request, response) => {
    request.resume();
    response.writeHead(403, "Not Yours").end("canary");
  });
  const endpoint = `http://127.0.0.1:${await listen(refusing)}`;
  const platform = startCli(["platform", "--port", "0"], {
    RECEIVABLES_DATA: join(folder, "refused"),
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_BSP_SCHEDULE_DELAY: "10",
  });
  const { extBaseUrl } = await whenReady(platform);
  await fetch(`${extBaseUrl}/api/v1/remittance-export/schema`);
  const failures = () =>
    platform.texts.stderr.split("\n").filter((line) => line.includes("tracing.failed"));
  await expect.poll(failures, { timeout: 30_000 }).not.toEqual([]);
  await platform.end("SIGTERM");
  await closeNow(refusing);
  const [line = ""] = failures();
  expect(JSON.parse(line)).toMatchObject({ level: "warn", error: "Not Yours" });
  expect(line).not.toMatch(/stack|canary/);
});

verifies("OP-32");
it("traces are exported only where standard settings ask for them", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  expect(wantsTraces({})).toBe(false);
  expect(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBe(false);
  expect(wantsTraces({ OTEL_TRACES_EXPORTER: "none", ...endpoint })).toBe(false);
  expect(wantsTraces({ OTEL_SDK_DISABLED: "true", ...endpoint })).toBe(false);
  expect(wantsTraces(endpoint)).toBe(true);
  expect(wantsTraces({ OTEL_TRACES_EXPORTER: "otlp" })).toBe(true);
});
