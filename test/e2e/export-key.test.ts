import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { connectStdio, startCli, whenReady } from "../support/cli.ts";
import { verifies } from "../support/verifies.ts";

const TOKEN = "token-of-a-test".repeat(3);

let folder: string;
let env: Record<string, string>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-key-"));
  env = {
    RECEIVABLES_DATA: join(folder, "data"),
    // No request reaches it: lists and refusals follow from the settings.
    RECEIVABLES_BASE_URL: "http://127.0.0.1:9",
    RECEIVABLES_TENANT_ID: "acme",
    RECEIVABLES_API_KEY: "rcvg_one",
  };
});
afterEach(() => rm(folder, { recursive: true }));

const listNames = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

/** Lists tools with and without need of the key, and calls one with it. */
const tryKeyed = async (client: Client) => {
  const names = await listNames(client);
  const { isError, content } = await client.callTool({ name: "payments_query", arguments: {} });
  return {
    listed: ["disputes_list", "payments_query"].filter((name) => names.includes(name)),
    isError,
    text: JSON.stringify(content),
  };
};

const KEYLESS = {
  listed: ["disputes_list"],
  isError: true,
  text: expect.stringContaining("RECEIVABLES_EXT_API_KEY_FILE"),
};

verifies("IN-60");
it("lists tools that need an export key over stdio only where one is configured", async () => {
  const [keyless, keyed] = await Promise.all([
    connectStdio(env),
    connectStdio({ ...env, RECEIVABLES_EXT_API_KEY: "rcvx_one" }),
  ]);
  expect(await tryKeyed(keyless)).toEqual(KEYLESS);
  expect(await listNames(keyed)).toContain("payments_query");
  await Promise.all([keyless.close(), keyed.close()]);
});

verifies("IN-60");
it("lists no tool over HTTP that no caller has a key for", async () => {
  const tokens = join(folder, "tokens");
  await writeFile(tokens, `${TOKEN} default read,write,admin\n`, { mode: 0o600 });
  const server = startCli(["http", "--port", "0"], {
    ...env,
    RECEIVABLES_HTTP_TOKENS_FILE: tokens,
  });
  try {
    const { mcpUrl = "" } = await whenReady(server);
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
    expect(await tryKeyed(client)).toEqual(KEYLESS);
    await client.close();
  } finally {
    await server.end("SIGTERM");
  }
});
