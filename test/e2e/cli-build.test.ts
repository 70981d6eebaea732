import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

let folder: string;
let cli: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "build-"));
  cli = join(folder, "dist", "cli.js");
  await run(process.execPath, [join(ROOT, "scripts/build.ts"), join(folder, "dist")]);
});
afterAll(() => rm(folder, { recursive: true, maxRetries: 3 }));

it("builds a program that runs by itself, without node_modules", async () => {
  expect(await readFile(cli, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect((await stat(cli)).mode & 0o111).not.toBe(0);
  const { stdout } = await run(process.execPath, [cli, "--help"]);
  expect(stdout).toContain("Usage: receivables-mcp");
});

it("serves the demo tenant from the bundle", async () => {
  const client = new Client({ name: "test", version: "1" });
  const env = { PATH: process.env["PATH"] ?? "", RECEIVABLES_DATA: join(folder, "data") };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli],
    env,
    stderr: "ignore",
  });
  await client.connect(transport);
  const answer = await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
  expect(answer.structuredContent).toMatchObject({ total: 300 });
  await client.close();
});
