import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();

verifies("OP-33");
it("a tool call over HTTP can be followed from the MCP request to the platform's", async () => {
  const server = startCli(["http", "--port", "0"], { RECEIVABLES_DATA: folder });
  const { mcpUrl = "" } = await whenReady(server);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
  await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
  await client.close();
  await server.end("SIGTERM");
  const lines = server.texts.stderr
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const called = lines.filter(({ event }) => event === "tool.called");
  expect(called).toMatchObject([
    {
      tool: "disputes_list",
      outcome: "done",
      caller: expect.stringMatching(/./),
      tenantId: "demo",
      httpRequestId: expect.stringMatching(/./),
      requestId: expect.stringMatching(/./),
    },
  ]);
  const requests = lines.filter(({ event }) => event === "http.request");
  expect(requests).toContainEqual(
    expect.objectContaining({
      server: "mcp",
      method: "POST",
      route: "/mcp",
      status: 200,
      rpcMethod: "tools/call",
      tool: "disputes_list",
      tenantId: "demo",
      principal: called[0]?.["caller"],
      bytes: expect.any(Number),
      ms: expect.any(Number),
      requestId: called[0]?.["httpRequestId"],
    }),
  );
  expect(requests).toContainEqual(
    expect.objectContaining({
      server: "platform",
      route: "/dispute/v1/tenants/{tenantId}/disputes",
      tenantId: "demo",
      tool: "disputes_list",
      requestId: called[0]?.["requestId"],
    }),
  );
});
