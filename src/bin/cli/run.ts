import about from "../../../package.json" with { type: "json" };
import { SECOND } from "../../kit/clock.ts";
import { getCode, getMessage } from "../../kit/error.ts";
import { waitAtMost } from "../../kit/wait.ts";
import { escapeControls } from "../../kit/text.ts";
import { keepWorkingFolder } from "../../kit/working-folder.ts";
import { terminalAsk } from "../commands/ask.ts";
import { installLastResort } from "./last-resort.ts";
import { onStarterEnd } from "./parent.ts";
import { runMain } from "./main.ts";
import { findProxyFaults, readProxies, setProxies, toProxyEnv } from "../../kit/proxy.ts";

/** Sends the requests of this process through the proxies that the environment names. Wrong names are reported later. */
const openProxies = async (env: Record<string, string | undefined>): Promise<void> => {
  const proxies = readProxies(env);
  if (findProxyFaults(proxies).length > 0) return;
  setProxies(proxies);
  const proxyEnv = toProxyEnv();
  if (proxyEnv === undefined) return;
  // For libraries, by their agents or by `fetch`; pools of connections of this program use the same proxies.
  const [{ setGlobalProxyFromEnv }, { useProxiesInFetch }] = await Promise.all([
    import("node:http"),
    import("../../client/dispatcher.ts"),
  ]);
  setGlobalProxyFromEnv(proxyEnv);
  useProxiesInFetch();
};

const FLUSH_MS = 2 * SECOND;

const describeLost = (reason: string): string =>
  `The result could not be written to standard output (${reason}). What the command has changed stays changed.\n`;

// npm runs scripts in the package's folder, but file arguments are relative to the person's folder.
const restoreWorkingFolder = (): void => {
  const { npm_lifecycle_event: script, npm_package_name: of, INIT_CWD: folder } = process.env;
  if (script !== "cli" || of !== about.name || folder === undefined) return;
  try {
    process.chdir(folder);
  } catch {
    // It was removed; commands that need no file of the person work without it.
  }
};

const isStdio = ([first = "stdio"]: readonly string[]): boolean =>
  first === "stdio" || first.startsWith("-");

/** Runs this process's command line and ends the process. */
export const run = async (dataFolder: string): Promise<void> => {
  installLastResort();
  restoreWorkingFolder();
  keepWorkingFolder();
  await openProxies(process.env);
  const ended = new AbortController();
  const end = (): void => ended.abort();
  let isServer = false;
  let lost: string | undefined;

  process.stdout.on("error", (error) => {
    // The host has closed stdout, so it has gone. Other commands print their results there, and servers one line.
    if (isStdio(process.argv.slice(2))) return end();
    const code = getCode(error);
    // A reader such as `head` has gone when it has read enough.
    if (code !== "EPIPE") lost ??= code ?? getMessage(error);
  });
  // A log that cannot be written, to a full disk or a reader that has gone, costs its lines alone.
  process.stderr.on("error", () => {});

  process.exitCode = await runMain({
    argv: process.argv.slice(2),
    env: process.env,
    dataFolder,
    version: about.version,
    program: { command: process.execPath, args: process.argv.slice(1, 2) },
    print: (value) => {
      process.stdout.write(`${escapeControls(JSON.stringify(value))}\n`);
    },
    notify: (line) => {
      process.stderr.write(`${escapeControls(line)}\n`);
    },
    tellsPerson: process.stderr.isTTY,
    isTerminal: process.stdout.isTTY,
    ask: process.stdin.isTTY ? terminalAsk : undefined,
    readInput: async () => (await import("node:stream/consumers")).text(process.stdin),
    takeSignals: () => {
      isServer = true;
      onStarterEnd(process.env, end);
      for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, end);
      return ended.signal;
    },
  });

  // Answers in a pipe that is slow or, as on Windows, asynchronous; a pager reads as slowly as the person does.
  const flushed = new Promise((resolve) => {
    process.stdout.write("", resolve);
  });
  await (isServer ? waitAtMost(FLUSH_MS, flushed) : flushed);
  if (lost !== undefined && !isServer) {
    process.stderr.write(describeLost(lost));
    process.exitCode = 1;
  }

  // Ends the process even if something is still open.
  setTimeout(() => process.exit(), 300).unref();
};
