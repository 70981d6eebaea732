import { createHmac } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, expect, it } from "vitest";
import { CLI, runCli } from "../support/cli.ts";
import { certificateFor, startReceiver } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

const SLOWLY = { timeout: 60_000, interval: 100 };

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of opened.splice(0).toReversed()) await end();
});

const folderFor = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "webhook-secret-"));
  opened.push(() => rm(folder, { recursive: true, maxRetries: 3 }));
  return folder;
};

type Row = Record<string, unknown>;

/** A host whose person agrees to everything; it records all that it receives. */
const openHost = async (env: Record<string, string>) => {
  const heard: string[] = [];
  const client = new Client(
    { name: "host", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    heard.push(params.message);
    return { action: "accept" as const, content: { confirm: true } };
  });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, "stdio"],
    env,
    stderr: "pipe",
  });
  transport.stderr?.on("data", (data: Buffer) => heard.push(String(data)));
  await client.connect(transport);
  opened.push(() => client.close());
  const call = async (name: string, args: Row): Promise<Row> => {
    const answer = await client.callTool({ name, arguments: args });
    heard.push(JSON.stringify(answer));
    if (answer.isError === true) throw new Error(JSON.stringify(answer.content));
    return answer.structuredContent as Row;
  };
  return { call, heard };
};

verifies("D-MCP-4", "WH-09", "C-31");
it("stores the secret with which deliveries are signed", async () => {
  const folder = await folderFor();
  const certificate = await certificateFor("localhost");
  const trusted = join(folder, "trusted.pem");
  await writeFile(trusted, certificate.cert);
  const receiver = await startReceiver(certificate);
  opened.push(() => receiver.close());
  const env = {
    PATH: process.env["PATH"] ?? "",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    NODE_EXTRA_CA_CERTS: trusted,
    RECEIVABLES_DATA: join(folder, "data"),
    RECEIVABLES_WEBHOOK_ALLOW: "127.0.0.0/8",
  };
  const { call, heard } = await openHost(env);

  const hook = await call("webhooks_create", {
    callbackUrl: `https://127.0.0.1:${receiver.port}/runs`,
  });
  expect(hook).not.toHaveProperty("secret");
  const name = String(hook["secretStoredAs"]);
  await call("schedules_create", {
    source: "cashapp",
    intervalMs: 300_000,
    firstRunAt: new Date().toISOString(),
    filters: { currencyCode: { eq: "USD" } },
  });
  await expect.poll(() => receiver.received.length, SLOWLY).toBeGreaterThan(0);

  const out = join(folder, "secret");
  const shown = await runCli(["secrets", "show", name, "--out", out], env);
  expect([shown.status, shown.stderr]).toEqual([0, ""]);
  const secret = (await readFile(out, "utf8")).trim();
  expect(secret).toMatch(/^[\w-]{43}$/);
  const [delivery] = receiver.received;
  const signature = createHmac("sha256", secret)
    .update(delivery?.body ?? "")
    .digest("hex");
  expect(delivery?.headers["x-webhook-signature"]).toBe(`sha256=${signature}`);
  expect(JSON.parse(String(delivery?.body))).toMatchObject({ event: "export.completed" });

  const deliveries = async (): Promise<unknown> =>
    (await call("webhooks_list_deliveries", { id: hook["id"] }))["data"];
  await expect
    .poll(deliveries, SLOWLY)
    .toEqual([expect.objectContaining({ status: "delivered", httpStatus: 204, attempt: 1 })]);
  expect(heard.join("\n")).not.toContain(secret);
});
