import { readFileSync } from "node:fs";
import { Problem } from "../../contract/errors.ts";
import { getCode, getMessage } from "../../kit/error.ts";
import { setLogFormat } from "../../kit/log.ts";
import {
  type Config,
  ConfigError,
  findUnknownSettings,
  readConfig,
  type Sources,
} from "../../config/config.ts";
import type { Io } from "../commands/io.ts";
import type { Run } from "./program-parts.ts";
import { openTracing } from "../../server/tracing.ts";

/** The parts of the process that commands may use. */
export type Host = Omit<Io, "config"> & {
  argv: readonly string[];
  env: Record<string, string | undefined>;
  dataFolder: string;
};

const loadConfig = async (
  { env, dataFolder }: Host,
  options: Record<string, string>,
  acceptsUnknown = false,
): Promise<Config> => {
  const sources = {
    env: { ...env, ...options },
    dataFolder,
    readFile: (path: string) => readFileSync(path, "utf8"),
  };
  const unknown = acceptsUnknown ? [] : findUnknownSettings(sources.env);
  if (unknown.length === 0) return readConfig(sources);
  const { describeUnknownSetting } = await import("../../config/unknown-settings.ts");
  throw new ConfigError([...listFaults(sources), ...unknown.map(describeUnknownSetting)]);
};

/** Returns the faults of the known settings: all faults are reported at once. */
const listFaults = (sources: Sources): readonly string[] => {
  try {
    readConfig(sources);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
};

/** Loads the settings, and chooses the form of the log: text on a person's terminal. */
const createIo = async (...given: Parameters<typeof loadConfig>): Promise<Io> => {
  const [host] = given;
  const config = await loadConfig(...given);
  setLogFormat(host.tellsPerson && !config.log.isJson ? "text" : "json");
  return { ...host, config };
};

const isUsage = (error: unknown): error is Error & { exitCode: number } =>
  getCode(error)?.startsWith("commander.") ?? false;

/** Returns the message, and each fault that the message does not include. */
const formatProblem = ({ code, message, details }: Problem): string[] => [
  `${code}: ${message}`,
  ...(details.errors ?? [])
    .map((fault) => `${fault.field} ${fault.message}`)
    .filter((fault) => !message.includes(fault))
    .map((fault) => `  ${fault}`),
];

/** Prints the error and returns the exit status: 1 refused or failed, 2 wrong usage or settings. */
const reportError = async ({ notify }: Host, error: unknown): Promise<number> => {
  // Commander has printed it already.
  if (isUsage(error)) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) {
    for (const fault of error.faults) notify(fault);
    return 2;
  }
  if (error instanceof Problem) for (const line of formatProblem(error)) notify(line);
  else notify(getMessage(error));
  const { findAdvice } = await import("./advice.ts");
  const advice = findAdvice(error);
  if (advice !== undefined) notify(advice);
  return 1;
};

const runCommand = async (host: Host): Promise<void> => {
  const { argv } = host;
  const [first = "stdio"] = argv;
  if (argv.length <= 1 && first === "stdio") {
    // Starts without loading the command line: hosts start this command most, and wait for it.
    const { serveStdio } = await import("../commands/stdio.ts");
    await serveStdio(await createIo(host, {}));
    return;
  }
  const { createProgram } = await import("./program.ts");
  const { readSettingOptions } = await import("./program-parts.ts");
  const run: Run = async (self, act, acceptsUnknown) =>
    act(await createIo(host, readSettingOptions(self), acceptsUnknown));
  const bare = first.startsWith("-") && !/^(-h|--help|-V|--version)$/.test(first);
  await createProgram(run, host.version).parseAsync(bare ? ["stdio", ...argv] : argv, {
    from: "user",
  });
};

/** Runs one command line and returns the exit status. */
export const runMain = async (host: Host): Promise<number> => {
  try {
    const tracing = await openTracing(host.env, host.version);
    await runCommand(host).finally(() => tracing.close());
    return 0;
  } catch (error) {
    return reportError(host, error);
  }
};
