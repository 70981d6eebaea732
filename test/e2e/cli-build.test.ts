import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Client } from "@modelcontextprotocol/client";
import type { Metafile } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../../scripts/build/bundle.ts";
import { connectStdio, runCli, startCli, whenReady, callWithToken } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { authorize, redeem, refresh, register, revoke } from "../support/oauth.ts";
import { verifies } from "../support/verifies.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsetNames } from "../../tools/toolsets.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

const folder = useFolder();
let cli: string;
let metafile: Metafile;

const env = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  RECEIVABLES_DATA: join(folder, "data"),
  RECEIVABLES_LOG: "silent",
  ...more,
});

beforeAll(async () => {
  cli = join(folder, "dist", "cli.js");
  metafile = await bundle(join(folder, "dist"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});

const open = (settings: Record<string, string>): Promise<Client> =>
  connectStdio(env(settings), { program: cli });

it("builds a program that runs without node_modules", async () => {
  expect(await readFile(cli, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect((await stat(cli)).mode & 0o111).not.toBe(0);
  const { stdout } = await run(process.execPath, [cli, "--help"], { env: env() });
  expect(stdout).toContain("Usage: receivables-mcp");
});

it("imports no package at run time that loses its names in the bundle, as CommonJS ones do", () => {
  const nameless = Object.values(metafile.outputs).filter(
    ({ entryPoint = "", exports }) =>
      entryPoint.includes("node_modules/") && !exports.some((name) => name !== "default"),
  );
  expect(nameless.map(({ entryPoint }) => entryPoint)).toEqual([]);
});

it("serves the demo tenant from the bundle", async () => {
  const client = await open({});
  const answer = await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
  expect(answer.structuredContent).toMatchObject({ total: 300 });
  await client.close();
});

verifies("OP-11");
it("signs people in from the bundle", async () => {
  const settings = {
    ...env({ RECEIVABLES_HTTP_AUTH: "builtin", RECEIVABLES_OAUTH_REGISTRATION: "true" }),
    RECEIVABLES_DATA: join(folder, "people"),
  };
  const ann = { email: "ann@acme.example", password: "correct horse battery staple" };
  const about = ["--email", ann.email, "--first-name", "Ann", "--last-name", "Lee"];
  await runCli(["admin", "tenant", "create", "acme", "--name", "Acme"], settings);
  const user = ["admin", "user", "create", "--tenant", "acme", "--role", "Administrator", ...about];
  const add = async (password: string) => {
    const adding = startCli(user, settings, cli);
    adding.stdin.write(password);
    const { status } = await adding.end("stdin");
    return { status, said: adding.texts.stderr };
  };
  expect(await add("password1234")).toEqual({ status: 1, said: expect.stringContaining("common") });
  expect(await add(ann.password)).toMatchObject({ status: 0 });
  const running = startCli(["http", "--port", "0"], settings, cli);
  try {
    const { baseUrl: url, mcpUrl: resource = "" } = await whenReady(running);
    const client = await register({ url });
    const coded = await authorize({ url, resource }, ann, { client });
    const first = await redeem({ url, resource }, coded);
    const second = await refresh({ url }, client, first.body.refresh_token);
    const asking = () => callWithToken(resource, second.body.access_token);
    expect(await (await asking()).text()).toContain(ann.email);
    expect(await revoke({ url }, client, second.body.refresh_token)).toBe(200);
    expect((await asking()).status).toBe(401);
  } finally {
    await running.end("SIGTERM");
  }
});

it.each([
  [{}, { toolsets: toolsetNames, readOnly: false }],
  [{ RECEIVABLES_READ_ONLY: "true" }, { toolsets: toolsetNames, readOnly: true }],
  [{ RECEIVABLES_DISCOVERY: "true" }, { toolsets: toolsetNames, readOnly: false, discovery: true }],
  [
    { RECEIVABLES_TOOLSETS: "audit,disputes" },
    { toolsets: ["disputes", "audit"], readOnly: false },
  ],
  [
    { RECEIVABLES_TOOLSETS: "audit,research" },
    { toolsets: ["audit"], readOnly: false, research: true },
  ],
] as const)("lists the tools that the source lists, with %j", async (given, settings) => {
  const client = await open(given);
  const { tools } = await client.listTools();
  expect(tools).toEqual(toolList(settings));
  await client.close();
});

// Says on stderr which files are loaded.
const SPY = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => {
    process.stderr.write("loaded " + url + "\\n");
    return next(url, context);
  } });`)}`;

const hello = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

/** The source files and modules of Node.js that a process has loaded by the time it has answered some requests. */
const loadedFor = async (
  settings: Record<string, string>,
  requests: [string, object][],
): Promise<string[]> => {
  const child = spawn(process.execPath, ["--import", SPY, cli], {
    env: env(settings),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      texts[name] += chunk;
    });
  }
  for (const [id, [method, params]] of [["initialize", hello] as const, ...requests].entries()) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await expect.poll(() => texts.stdout, { timeout: 20_000 }).toContain(`"id":${id}`);
  }
  expect(texts.stdout).not.toContain('"error":{"code":');
  const closed = once(child, "close");
  child.stdin.end();
  await closed;
  const files = [...texts.stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url = ""]) =>
    relative(ROOT, fileURLToPath(url)),
  );
  expect(files.length).toBeGreaterThan(3);
  const ofNode = [...texts.stderr.matchAll(/^loaded (node:.*)$/gm)].map(([, url = ""]) => url);
  return [...ofNode, ...files.flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {}))];
};

describe("loaded modules", () => {
  const REMOTE = {
    RECEIVABLES_BASE_URL: "http://127.0.0.1:9",
    RECEIVABLES_API_KEY: "a-key-for-nobody",
    RECEIVABLES_TENANT_ID: "tenant",
  };
  const LISTS = ["tools/list", "prompts/list", "resources/list"].map((method): [string, object] => [
    method,
    {},
  ]);
  const CALL: [string, object] = [
    "tools/call",
    { name: "disputes_get", arguments: { disputeId: "d" } },
  ];
  const count = (files: string[], part: string) =>
    files.filter((file) => file.includes(part)).length;

  it("are neither SDK nor contract, client or platform to initialize and to list", async () => {
    const files = await loadedFor({}, LISTS);
    expect(files).toContain("src/mcp/stdio/handshake.ts");
    // The server part of ext-apps is three names; the credentials of the settings are read before any call.
    const heavy =
      /@modelcontextprotocol\/(?!ext-apps\/dist\/src\/server)|contract\/operations|src\/(client|broker(?!\/credentials)|platform)|kysely|hono|prom-client|@opentelemetry|@aws-sdk/;
    expect(files.filter((file) => heavy.test(file))).toEqual([]);
    // Node.js loads undici with node:http, which takes a quarter of a start.
    expect(files).toContain("node:fs");
    const costly = /^node:(http|https|http2|tls|child_process|worker_threads|v8|vm|sqlite|zlib)$/;
    expect(files.filter((file) => costly.test(file))).toEqual([]);
  });

  it("exclude the platform for calls to a remote platform", async () => {
    const files = await loadedFor(REMOTE, [...LISTS, CALL]);
    expect(count(files, "src/client/remote.ts")).toBe(1);
    expect(count(files, "src/platform/")).toBe(0);
    expect(count(files, "node_modules/kysely/")).toBe(0);
  });

  it("include the platform for calls to the embedded platform", async () => {
    const files = await loadedFor({}, [CALL]);
    expect(count(files, "src/platform/")).toBeGreaterThan(50);
    expect(count(files, "src/client/remote.ts")).toBe(0);
  });

  it("are cached in a folder that only the owner can access", async () => {
    const cache = await stat(join(folder, ".cache", "receivables-mcp"));
    expect(cache.isDirectory()).toBe(true);
    expect(cache.mode & 0o077).toBe(0);
  });
});
