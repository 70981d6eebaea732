import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLI, runCli } from "../support/cli.ts";
import { verifies } from "../support/verifies.ts";

const ROOT = join(import.meta.dirname, "../..");

let folder: string;
let children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "around-"));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Starts a program whose log goes to `stderr`, and returns the address that it prints. */
const start = async (command: string, args: string[], stderr: number | "pipe" | "ignore") => {
  const env = {
    PATH: process.env["PATH"],
    RECEIVABLES_DATA: join(folder, "data"),
    RECEIVABLES_KEYCHAIN: "off",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    npm_config_cache: join(folder, "npm"),
  };
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", stderr] });
  children.push(child);
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  await expect.poll(() => printed, { timeout: 60_000 }).toContain("baseUrl");
  const url = /"baseUrl":"([^"]+)"/.exec(printed)?.[1] ?? "";
  return { child, url };
};

const isServing = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

describe("a server", () => {
  verifies("HS-06");
  it.each(["SIGTERM", "SIGKILL"] as const)(
    "that npm started ends with npm's %s",
    async (signal) => {
      const args = ["run", "-s", "cli", "--", "platform", "--port", "0"];
      const { child, url } = await start("npm", args, "ignore");
      expect(await isServing(url)).toBe(true);
      // The search for npm among the ancestors takes a moment.
      await new Promise((resolve) => {
        setTimeout(resolve, 1500);
      });
      child.kill(signal);
      await expect.poll(() => isServing(url), { timeout: 20_000 }).toBe(false);
    },
  );

  it("answers though its log is on a full disk, or its reader has gone", async () => {
    const command = [CLI, "platform", "--port", "0"];
    const full = await start(process.execPath, command, openSync("/dev/full", "w"));
    for (let times = 0; times < 5; times += 1) expect(await isServing(full.url)).toBe(true);
    full.child.kill("SIGTERM");
    const broken = await start(process.execPath, [CLI, "http", "--port", "0"], "pipe");
    broken.child.stderr?.destroy();
    for (let times = 0; times < 5; times += 1) expect(await isServing(broken.url)).toBe(true);
  });

  verifies("HS-06");
  it("reads its store though its working folder is removed, before and after the start", async () => {
    for (const removes of ["first", "later"]) {
      const gone = join(folder, `gone-${removes}`);
      const remove = `rm -r '${gone}'`;
      const last = removes === "first" ? remove : "true";
      const run = `mkdir '${gone}' && cd '${gone}' && ${last} && exec "$0" "$@"`;
      const program = [process.execPath, CLI, "http", "--port", "0"];
      const { child, url } = await start("sh", ["-c", run, ...program], "ignore");
      await rm(gone, { recursive: true, force: true });
      const call = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "disputes_summary", arguments: {} },
      };
      const answer = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(call),
      });
      const answered = await answer.text();
      expect(answered).toContain("structuredContent");
      expect(answered).not.toContain("isError");
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  });

  verifies("HS-04");
  it("answers probes of HTTP/1.0 without Host, and targets in absolute form", async () => {
    const { url } = await start(process.execPath, [CLI, "http", "--port", "0"], "ignore");
    const { host, port } = new URL(url);
    for (const [request, status] of [
      ["GET /health HTTP/1.0\r\n", 200],
      ["OPTIONS / HTTP/1.0\r\n", 204],
      [`GET http://${host}/health HTTP/1.1\r\nHost: ${host}\r\n`, 200],
      [`GET http://${host}/health HTTP/1.1\r\nHost: other.example\r\n`, 403],
      [`GET http://${host}?x HTTP/1.1\r\nHost: ${host}\r\n`, 200],
      [`GET http://other.example/ HTTP/1.1\r\nHost: ${host}\r\n`, 403],
    ] as const) {
      const socket = connect(Number(port), "127.0.0.1");
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      socket.write(`${request}\r\n`);
      await expect.poll(() => text).toMatch(new RegExp(`^HTTP/1\\.[01] ${status} `));
      socket.destroy();
    }
  });
});

describe("a command", () => {
  verifies("HS-06", "HS-09");
  it("says that its result was lost on a full disk, and counts as failed", async () => {
    const command = spawn(process.execPath, [CLI, "export-spec"], {
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    const ended = once(command, "exit");
    const told = await text(command.stderr as Readable);
    expect(told).toMatch(/could not be written to standard output \(ENOSPC\)/);
    expect((await ended)[0]).toBe(1);
  });

  it("has done its work if its reader has read enough", async () => {
    const command = spawn(process.execPath, [CLI, "export-spec"], { stdio: "pipe" });
    const ended = once(command, "exit");
    command.stdout.once("data", () => command.stdout.destroy());
    expect(await text(command.stderr)).toBe("");
    expect((await ended)[0]).toBe(0);
  });
});

describe("doctor", () => {
  verifies("HS-06");
  it("names the proxy without its password, and a file of authorities that it cannot read", async () => {
    const { stdout } = await runCli(["doctor", "--json"], {
      RECEIVABLES_DATA: join(folder, "data"),
      HTTPS_PROXY: "http://user:canary@proxy.example:3128",
      NO_PROXY: "corp.example",
      NODE_EXTRA_CA_CERTS: join(folder, "missing.pem"),
    });
    expect(stdout).not.toContain("canary");
    const { checks } = JSON.parse(stdout) as { checks: { check: string; found: string }[] };
    const found = (name: string) => checks.find(({ check }) => check === name)?.found;
    expect(found("proxy")).toMatch(/https through http:\/\/proxy\.example:3128 .*corp\.example/);
    expect(found("authorities")).toContain("cannot be read");
  });
});
