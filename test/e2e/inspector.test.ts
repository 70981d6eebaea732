import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLI, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";

const ROOT = join(import.meta.dirname, "../..");
const INSPECTOR = join(
  ROOT,
  "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);

const LISTED = JSON.parse(readFileSync(join(ROOT, "test/derived/tools.json"), "utf8")) as unknown[];

type Ended = { status: number; stdout: string; stderr: string };

const folder = useFolder();
let http: Running;
let url: string;

/** The official inspector, as a person would run it; it keeps its files in the test's own folder. */
const inspect = (target: string[], ...rest: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      RECEIVABLES_DATA: join(folder, "data"),
      RECEIVABLES_LOG: "warn",
    };
    execFile(
      process.execPath,
      [INSPECTOR, "--cli", ...target, ...rest, "--format", "json"],
      { env, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });

beforeAll(async () => {
  http = startCli(["http", "--port", "0"], { RECEIVABLES_DATA: join(folder, "data") });
  url = (await whenReady(http)).mcpUrl ?? "";
});
afterAll(() => http.end("SIGTERM"));

const doors: [string, () => string[]][] = [
  ["stdio", () => [process.execPath, CLI, "stdio"]],
  ["HTTP", () => [url]],
];

describe.each(doors)("the inspector over %s", (_door, target) => {
  it.each(["legacy", "modern"])("lists and calls tools in the %s era", async (era) => {
    const call = (...args: string[]) => inspect(target(), "--protocol-era", era, ...args);
    const listed = await call("--method", "tools/list");
    expect([listed.status, listed.stderr]).toEqual([0, expect.any(String)]);
    const { tools } = JSON.parse(listed.stdout).result ?? JSON.parse(listed.stdout);
    expect(tools.length).toBe(LISTED.length);
    const called = await call(
      "--method",
      "tools/call",
      "--tool-name",
      "disputes_list",
      "--tool-args-json",
      '{"PageSize":2,"Status":[0]}',
    );
    expect(called.status).toBe(0);
    expect(called.stdout).toContain("disputeCode");
    const refused = await call(
      "--method",
      "tools/call",
      "--tool-name",
      "disputes_get",
      "--tool-arg",
      "disputeId=none",
    );
    expect(refused.status).toBe(5);
    expect(refused.stdout).toContain("not_found: ");
  });

  it("finds no fault in the schemas", async () => {
    const strict = await inspect(target(), "--method", "tools/list", "--strict");
    expect(strict.status).toBe(0);
  });

  it("reads resources and gets prompts", async () => {
    const guide = await inspect(
      target(),
      "--method",
      "resources/read",
      "--uri",
      "receivables://guide",
    );
    expect([guide.status, guide.stdout]).toEqual([0, expect.stringContaining("disputes_list")]);
    const prompt = await inspect(
      target(),
      "--method",
      "prompts/get",
      "--prompt-name",
      "triage-disputes",
    );
    expect([prompt.status, prompt.stdout]).toEqual([0, expect.stringContaining("messages")]);
  });
});
