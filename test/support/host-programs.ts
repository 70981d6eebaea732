import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/** The folder in which npm has installed the hosts; `.ci/run` names it. */
const PACKAGES = process.env["HOST_PROGRAMS"] ?? "";

const NODE = process.execPath;

/** How each host that is an npm package is started. */
const PROGRAMS = {
  claude: [join(PACKAGES, `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`)],
  codex: [NODE, join(PACKAGES, "@openai/codex/bin/codex.js")],
  copilot: [join(PACKAGES, `@github/copilot-${process.platform}-${process.arch}/copilot`)],
  gemini: [NODE, join(PACKAGES, "@google/gemini-cli/bundle/gemini.js")],
};

export type HostProgram = keyof typeof PROGRAMS;

/** Tells whether a host is on this machine. */
export const hasHost = (host: HostProgram): boolean =>
  PACKAGES !== "" && existsSync(PROGRAMS[host].at(-1) ?? "");

/** Closed: nothing that a host wants from the network is asked of another machine. */
const NOWHERE = "http://127.0.0.1:9";

/** A person's machine on which nothing but the host is set up. */
export const environmentOf = (home: string): Record<string, string> => ({
  HOME: home,
  PATH: `${dirname(NODE)}:/usr/bin:/bin`,
  TERM: "dumb",
  HTTPS_PROXY: NOWHERE,
  HTTP_PROXY: NOWHERE,
  NO_PROXY: "127.0.0.1,localhost",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  RECEIVABLES_DATA: join(home, "data"),
  RECEIVABLES_KEYCHAIN: "off",
});

const begin = (host: HostProgram, args: readonly string[], home: string, folder = home) => {
  const [command = "", ...first] = PROGRAMS[host];
  return spawn(command, [...first, ...args], { cwd: folder, env: environmentOf(home) });
};

/** Runs a command of a host in a folder, and returns what it prints. */
export const runHost = async (
  host: HostProgram,
  args: readonly string[],
  { home, folder, input = "" }: { home: string; folder?: string; input?: string },
): Promise<{ status: number | null; printed: string }> => {
  const child = begin(host, args, home, folder);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  child.stdin.end(input);
  const [status] = (await once(child, "close")) as [number | null];
  return { status, printed };
};

type Reply = { id?: number; result?: unknown; error?: unknown };

/** Starts Codex as its graphical interfaces do; returns a function that asks it by JSON-RPC, and one that ends it. */
export const startCodex = (home: string) => {
  const child = begin("codex", ["app-server"], home);
  child.stderr.resume();
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    notify: (method: string): void => send({ method }),
    async ask(method: string, params: object): Promise<Reply> {
      last += 1;
      send({ id: last, method, params });
      for (;;) {
        const { value, done } = await replies.next();
        if (done === true) throw new Error(`Codex ended before it answered ${method}`);
        const reply = JSON.parse(value) as Reply & { method?: string };
        if (reply.id === last && reply.method === undefined) return reply;
      }
    },
    async end(): Promise<void> {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    },
  };
};
