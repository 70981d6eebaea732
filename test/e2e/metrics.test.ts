import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { ask } from "../support/raw-http.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();
const ON = { RECEIVABLES_METRICS_ADDRESS: "127.0.0.1:0" };

const scrape = async ({ texts }: Running): Promise<string> => {
  const [, url = ""] = /"event":"metrics.ready","url":"([^"]*)"/.exec(texts.stderr) ?? [];
  const foreign = { method: "GET", headers: { host: "evil.example" }, body: "" };
  expect((await ask(url, foreign)).status).toBe(403);
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return response.text();
};

describe.each(dialects)("metrics of a platform ($name)", (dialect) => {
  verifies("OP-31");
  it("count requests by route, and show jobs, pools and the process", async () => {
    const database = await dialect.createMigrated();
    const server = startCli(["platform", "--port", "0"], { ...database.environment, ...ON });
    const { baseUrl } = await whenReady(server);
    await fetch(`${baseUrl}/dispute/v1/tenants/canary/disputes/canary?Page=1`);
    await fetch(`${baseUrl}/authentication/v1/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "canary@x.example", password: "canary" }),
    });
    const text = await scrape(server);
    await server.end("SIGTERM");
    await database.remove();
    const route = "/dispute/v1/tenants/{tenantId}/disputes/{disputeId}";
    const labels = `server="platform",method="GET",route="${route}"`;
    expect(text).toContain(`receivables_http_requests_total{${labels},status="401"} 1`);
    expect(text).toContain(`receivables_http_request_duration_seconds_count{${labels}} 1`);
    expect(text).toContain("receivables_failed_logins_total 1");
    expect(text).toContain('receivables_jobs{kind="webhook-delivery",state="due"} 0');
    expect(text).toContain('receivables_webhook_deliveries{state="retrying"} 0');
    expect(text).toContain('receivables_store_pool{pool="views",state="busy"} 0');
    expect(text).toContain("receivables_store_figures_up 1");
    expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
    expect(text).toContain("process_resident_memory_bytes");
    expect(text).not.toContain("canary");
  });
});

verifies("OP-31", "C-64");
it("an MCP server counts tool calls by tool and outcome, below its log level too", async () => {
  const env = { RECEIVABLES_DATA: folder, ...ON };
  const server = startCli(["http", "--port", "0"], env);
  const { baseUrl, mcpUrl = "" } = await whenReady(server);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
  await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
  await client.callTool({ name: "disputes_get", arguments: { disputeId: "canary" } });
  await client.close();
  const text = await scrape(server);
  expect(text).toContain('receivables_tool_calls_total{tool="disputes_list",outcome="done"} 1');
  expect(text).toContain('receivables_tool_calls_total{tool="disputes_get",outcome="not_found"} 1');
  expect(text).toContain('receivables_tool_call_duration_seconds_count{tool="disputes_list"} 1');
  expect(text).toMatch(
    /requests_total\{server="mcp",method="POST",route="\/mcp",status="200"\} \d/,
  );
  expect(text).not.toMatch(/canary|"demo"/);
  expect((await fetch(`${baseUrl}/metrics`)).status).toBe(404);
  await server.end("SIGTERM");
});
