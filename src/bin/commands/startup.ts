import { createLog, type Log } from "../../kit/log.ts";
import type { LoadStep } from "../../platform/demo/load.ts";
import type { Io } from "./io.ts";
import { createStepProgress } from "./progress.ts";

/** The output of a server while it starts: to a person at a terminal, or to a log. */
export type Startup = {
  log: Log;
  /** Whether a person reads it at a terminal. */
  isPerson: boolean;
  /** Shows the steps of the first start. */
  progress: (step: LoadStep) => void;
  /** Ends the progress. */
  end(): void;
  /** Ends the progress, and writes the warnings that were held until the person could read the address. */
  release(): void;
};

/**
 * Creates the output of a server's start. At a terminal, warnings wait until the start has ended, so that they do not
 * hide what the person looks for, and requests are not logged unless the settings ask for that level.
 */
export const createStartup = ({ config, tellsPerson, notify }: Io): Startup => {
  const { own, isJson } = config.log;
  const isPerson = tellsPerson && !isJson;
  const held: string[] = [];
  let holds = isPerson;
  const write = (line: string): void => {
    if (holds) held.push(line);
    else process.stderr.write(line);
  };
  const log = createLog(isPerson ? (own ?? "warn") : config.level, write);
  const steps = createStepProgress({ stream: process.stderr, isPerson, log });
  return {
    log,
    isPerson,
    progress: steps.at,
    end: steps.end,
    release() {
      steps.end();
      holds = false;
      for (const line of held.splice(0)) notify(line.trimEnd());
    },
  };
};
