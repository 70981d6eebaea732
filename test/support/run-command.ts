import { runMain } from "../../src/bin/cli/main.ts";

type Host = Parameters<typeof runMain>[0];

/** The replaced defaults of a test's command. */
type Different = { input?: string | undefined } & Partial<Pick<Host, "env" | "ask">>;

/** Runs a command in this process on a data folder, as a person or a script would. */
export const runCommand = async (
  data: string,
  argv: string[],
  { input = "", env = {}, ask }: Different = {},
) => {
  const printed: Record<string, unknown>[] = [];
  const told: string[] = [];
  const status = await runMain({
    argv,
    env: { RECEIVABLES_DATA: data, RECEIVABLES_KEYCHAIN: "off", ...env },
    dataFolder: data,
    version: "0.0.0",
    program: { command: "node", args: [] },
    print: (value) => printed.push(value as Record<string, unknown>),
    notify: (line) => told.push(line),
    tellsPerson: false,
    isTerminal: false,
    ask,
    readInput: async () => input,
    takeSignals: () => new AbortController().signal,
  });
  return { status, printed, text: told.join("\n") };
};

/** Settings without log lines among what a command tells. */
export const SILENT = { RECEIVABLES_LOG: "silent" };
