import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The program that the run has built, where it starts many processes; else the sources. */
export const CLI =
  process.env["TESTED_PROGRAM"] ?? fileURLToPath(new URL("../../src/bin/cli.ts", import.meta.url));

type Env = Record<string, string>;

/** Switches the limits off that tests reach and people do not. */
export const UNLIMITED = {
  RECEIVABLES_GATEWAY_RATE_MINUTE: "0",
  RECEIVABLES_LOGIN_RATE_MINUTE: "0",
  RECEIVABLES_RATE_MINUTE: "0",
  RECEIVABLES_RATE_HOUR: "0",
  RECEIVABLES_TOOLS_RATE_MINUTE: "0",
};

/** Passes only the given settings, not those of the person who runs the tests. */
const bare = (env: Env): Env => ({
  PATH: process.env["PATH"] ?? "",
  // Of this run, so that tests leave no files in the folders of the person who runs them.
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  RECEIVABLES_KEYCHAIN: "off",
  ...env,
});

export type Ended = { status: number | null; stdout: string; stderr: string };

const collect = (child: ChildProcess): { stdout: string; stderr: string } => {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      texts[name] += chunk;
    });
  }
  return texts;
};

/** Runs the command line as a process of its own, to its end; `folder` is where it works. */
export const runCli = async (
  args: string[],
  env: Env,
  input = "",
  folder?: string,
): Promise<Ended> => {
  const child = spawn(process.execPath, [CLI, ...args], { env: bare(env), cwd: folder });
  const texts = collect(child);
  child.stdin.end(input);
  const [status] = (await once(child, "close")) as [number | null];
  return { status, ...texts };
};

/** Runs an administrator's command that must succeed; returns the JSON that it prints. */
export const runAdmin = async (
  args: string[],
  env: Env,
  input = "",
): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await runCli(["admin", ...args], env, input);
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
};

/** Creates the tenant `acme` with one person of the role per e-mail address. */
export const createPeople = async (
  env: Env,
  {
    emails,
    password,
    role = "Administrator",
  }: { emails: string[]; password: string; role?: string },
): Promise<void> => {
  await runAdmin(["tenant", "create", "acme", "--name", "Acme Inc."], env);
  const person = ["--tenant", "acme", "--first-name", "Ann", "--last-name", "Lee", "--role", role];
  for (const email of emails) {
    await runAdmin(["user", "create", ...person, "--email", email], env, password);
  }
};

/** Connects a client over stdio to a process of the program, which ends with it. */
export const connectStdio = async (
  env: Env,
  { client = new Client({ name: "test", version: "1" }), program = CLI } = {},
): Promise<Client> => {
  const command = process.execPath;
  await client.connect(
    new StdioClientTransport({ command, args: [program], env: bare(env), stderr: "ignore" }),
  );
  return client;
};

export type Running = {
  pid: number;
  /** The output so far. */
  texts: { stdout: string; stderr: string };
  stdin: NodeJS.WritableStream;
  hasEnded(): boolean;
  /** Sends a signal, or closes its standard input, and waits for its end. */
  end(
    how: "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGKILL" | "stdin",
  ): Promise<{ status: number | null; ms: number }>;
};

/** Starts a command that keeps running; the caller must end it. */
export const startCli = (args: string[], env: Env, program = CLI): Running => {
  const child = spawn(process.execPath, [program, ...args], { env: bare(env) });
  const texts = collect(child);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    texts,
    stdin: child.stdin,
    hasEnded,
    async end(how) {
      const began = performance.now();
      if (!hasEnded()) {
        const closed = once(child, "close");
        if (how === "stdin") child.stdin.end();
        else child.kill(how);
        await closed;
      }
      return { status: child.exitCode, ms: performance.now() - began };
    },
  };
};

/** A server that ends sooner has waited for nothing: what is under way is cut off after ten seconds. */
export const BEFORE_THE_CUT_MS = 9000;

export type Ready = { event: "ready"; baseUrl: string; extBaseUrl: string; mcpUrl?: string };

/** Waits for a server's one line. */
export const whenReady = async (running: Running): Promise<Ready> => {
  for (let waited = 0; !running.texts.stdout.includes("\n"); waited += 20) {
    if (waited > 60_000 || running.hasEnded()) {
      throw new Error(`not ready: ${running.texts.stderr}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  return JSON.parse(running.texts.stdout) as Ready;
};

/** Calls a tool with an access token. */
export const callWithToken = (
  mcpUrl: string,
  token: string,
  name = "users_profile",
  args: Record<string, unknown> = {},
): Promise<Response> =>
  fetch(mcpUrl, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args },
    }),
  });
