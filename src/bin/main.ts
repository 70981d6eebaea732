import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { Problem } from "../contract/errors.ts";
import { createLog } from "../kit/log.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import type { Io } from "./io.ts";

/** The parts of the process that commands may use. */
export type Host = Omit<Io, "config"> & {
  argv: readonly string[];
  env: Record<string, string | undefined>;
  dataFolder: string;
};

const loadConfig = ({ env, dataFolder }: Host, options: Record<string, string>): Config => {
  const config = readConfig({
    env: { ...env, ...options },
    dataFolder,
    readFile: (path) => readFileSync(path, "utf8"),
  });
  const log = createLog(config.level);
  for (const name of config.unused) log.warn("config.unknown_setting", { name });
  return config;
};

const isUsage = (error: unknown): error is Error & { exitCode: number } =>
  error instanceof Error && "code" in error && String(error.code).startsWith("commander.");

/** Returns the message, and each fault that the message does not include. */
const formatProblem = ({ code, message, details }: Problem): string[] => [
  `${code}: ${message}`,
  ...(details.errors ?? [])
    .map((fault) => `${fault.field} ${fault.message}`)
    .filter((fault) => !message.includes(fault))
    .map((fault) => `  ${fault}`),
];

/** Prints the error and returns the exit status: 1 refused or failed, 2 wrong usage or settings. */
const reportError = async ({ tell }: Host, error: unknown): Promise<number> => {
  // Commander has printed it already.
  if (isUsage(error)) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) {
    for (const fault of error.faults) tell(fault);
    return 2;
  }
  if (error instanceof Problem) for (const line of formatProblem(error)) tell(line);
  else tell(error instanceof Error ? error.message : String(error));
  const { findAdvice } = await import("./advice.ts");
  const advice = findAdvice(error);
  if (advice !== undefined) tell(advice);
  return 1;
};

const perform = async (host: Host): Promise<void> => {
  const { argv } = host;
  const [first = "stdio"] = argv;
  if (argv.length <= 1 && first === "stdio") {
    // Starts without loading the command line: hosts start this command most, and wait for it.
    const { serveStdio } = await import("./commands/stdio.ts");
    await serveStdio({ ...host, config: loadConfig(host, {}) });
    return;
  }
  const { createProgram } = await import("./program.ts");
  const { readSettingOptions } = await import("./program-parts.ts");
  const run = (self: Command, act: (io: Io) => Promise<void>): Promise<void> =>
    act({ ...host, config: loadConfig(host, readSettingOptions(self.opts())) });
  const bare = first.startsWith("-") && !/^(-h|--help|-V|--version)$/.test(first);
  await createProgram(run, host.version).parseAsync(bare ? ["stdio", ...argv] : argv, {
    from: "user",
  });
};

/** Runs one command line and returns the exit status. */
export const runMain = async (host: Host): Promise<number> => {
  try {
    await perform(host);
    return 0;
  } catch (error) {
    return reportError(host, error);
  }
};
