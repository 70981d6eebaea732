import { join } from "node:path";
import { expect, it } from "vitest";
import { startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();
const data = (name: string) => ({ RECEIVABLES_DATA: join(folder, name) });

const ask = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

verifies("OP-30");
it("an MCP server is ready as long as its platform is", async () => {
  const platform = startCli(["platform", "--port", "0"], data("platform"));
  const { baseUrl } = await whenReady(platform);
  const server = startCli(["http", "--port", "0"], {
    ...data("server"),
    RECEIVABLES_BASE_URL: baseUrl,
    RECEIVABLES_TENANT_ID: "acme",
    RECEIVABLES_API_KEY: "unused",
  });
  const { mcpUrl = "" } = await whenReady(server);
  const at = (path: string) => new URL(path, mcpUrl).href;
  expect(await ask(at("/ready"))).toEqual({
    status: 200,
    body: { status: "ok", parts: { platform: { ok: true } } },
  });
  await platform.end("SIGTERM");
  await expect.poll(async () => (await ask(at("/ready"))).status, { timeout: 10_000 }).toBe(503);
  expect((await ask(at("/ready"))).body).toMatchObject({
    status: "unavailable",
    parts: { platform: { ok: false, reason: "no answer: ECONNREFUSED" } },
  });
  expect((await ask(at("/health"))).status).toBe(200);
  await server.end("SIGTERM");
});

verifies("OP-30");
it("a server with an embedded platform answers for the platform's parts", async () => {
  const server = startCli(["http", "--port", "0"], data("embedded"));
  const { baseUrl } = await whenReady(server);
  const { status, body } = await ask(`${baseUrl}/ready`);
  expect([status, body["parts"]]).toEqual([
    200,
    { store: { ok: true }, schema: { ok: true }, files: { ok: true } },
  ]);
  await server.end("SIGTERM");
});
