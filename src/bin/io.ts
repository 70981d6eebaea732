import type { Ask } from "./ask.ts";
import type { Config } from "./config.ts";

/** The process as a command sees it. */
export type Io = {
  config: Config;
  /** The program's own. */
  version: string;
  /** How this very program is started. */
  program: { command: string; args: string[] };
  /** A result: one JSON object, one line on stdout. */
  print: (value: object) => void;
  /** A line for a person, on stderr. */
  tell: (line: string) => void;
  /** Whether stdout is a person's terminal. */
  isTerminal: boolean;
  /** Where a person sits at standard input. */
  ask: Ask | undefined;
  /** All of standard input. */
  readInput: () => Promise<string>;
  /** Aborted by SIGTERM and SIGINT. */
  ended: AbortSignal;
};
