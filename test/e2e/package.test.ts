import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, it } from "vitest";
import { connectStdio, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";
import about from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const INSPECTOR = join(
  ROOT,
  "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);
const MAX_BYTES = 18 * 2 ** 20;
const KEYCHAIN = "@napi-rs/keyring";

const folder = useFolder();
let modules: string;

beforeAll(async () => {
  await run(process.execPath, [join(ROOT, "scripts/package.ts"), folder]);
  const archive = join(folder, `${about.name}-${about.version}.tgz`);
  const installed = join(folder, "installed");
  await mkdir(installed);
  // Nothing is fetched. The keychain is optional, so npm leaves it out where its cache lacks it.
  const options = ["--offline", "--no-audit", "--no-fund", "--prefix", installed];
  await run("npm", ["install", ...options, archive], { cwd: installed });
  modules = join(installed, "node_modules");
}, 300_000);

describe("the installed npm package", () => {
  it("has at most 18 MiB and brings nothing but the optional keychain", async () => {
    const paths = await readdir(join(modules, about.name), { recursive: true });
    const files = await Promise.all(paths.map((path) => stat(join(modules, about.name, path))));
    const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    const names = (await readdir(modules)).filter((name) => !name.startsWith("."));
    expect(["@napi-rs", about.name]).toEqual(expect.arrayContaining(names));
    const manifest = JSON.parse(await readFile(join(modules, about.name, "package.json"), "utf8"));
    expect(manifest).toEqual({
      ...about,
      private: undefined,
      dependencies: undefined,
      devDependencies: undefined,
      optionalDependencies: { [KEYCHAIN]: expect.any(String) },
      devEngines: undefined,
      workspaces: undefined,
      allowScripts: undefined,
      scripts: undefined,
      scarfSettings: undefined,
    });
  });

  const environment = () => ({ HOME: folder, RECEIVABLES_DATA: join(folder, "data") });
  const programOf = () => join(modules, ".bin", about.name);
  const call = { name: "disputes_list", arguments: { PageSize: 1 } };

  /** Calls a tool with the official inspector. */
  const inspect = async (...target: string[]) => {
    const options = ["--method", "tools/call", "--tool-name", call.name];
    const args = ["--tool-args-json", JSON.stringify(call.arguments), "--format", "json"];
    const env = { PATH: process.env["PATH"] ?? "", ...environment() };
    const command = [INSPECTOR, "--cli", ...target, ...options, ...args];
    const { stdout } = await run(process.execPath, command, { env, maxBuffer: 1 << 26 });
    return (JSON.parse(stdout) as { result: object }).result;
  };

  verifies("RC-03");
  it("serves the demo tenant over stdio, to a client and to the inspector", async () => {
    const client = await connectStdio(environment(), { program: programOf() });
    const answer = await client.callTool(call);
    expect(answer.structuredContent).toMatchObject({ total: 300 });
    await client.close();
    const inspected = await inspect(process.execPath, programOf(), "stdio");
    expect(inspected).toMatchObject({ structuredContent: { total: 300 } });
  });

  verifies("RC-03");
  it("serves it over HTTP, to a client and to the inspector", async () => {
    const server = startCli(["http", "--port", "0"], environment(), programOf());
    try {
      const { mcpUrl = "" } = await whenReady(server);
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
      expect((await client.callTool(call)).structuredContent).toMatchObject({ total: 300 });
      await client.close();
      expect(await inspect(mcpUrl)).toMatchObject({ structuredContent: { total: 300 } });
    } finally {
      await server.end("SIGTERM");
    }
  });
});
