import type { Ask } from "./ask.ts";
import type { Config } from "../../config/config.ts";

/** The process as a command sees it. */
export type Io = {
  config: Config;
  /** The version of this program. */
  version: string;
  /** The command that starts this program, for configuration files of hosts. */
  program: { command: string; args: string[] };
  /** Prints a result: one JSON object, one line on stdout. */
  print: (value: object) => void;
  /** Prints a line for a person on stderr. */
  notify: (line: string) => void;
  /** Whether stderr is a person's terminal, and not a log. */
  tellsPerson: boolean;
  /** Whether stdout is a person's terminal. */
  isTerminal: boolean;
  /** Defined if standard input is a terminal. */
  ask: Ask | undefined;
  /** Reads standard input to its end. */
  readInput: () => Promise<string>;
  /** Makes SIGTERM, SIGINT and SIGHUP abort the returned signal. Without this call they end the process at once. */
  takeSignals: () => AbortSignal;
};
