import { writeSync } from "node:fs";
import { format } from "node:util";
import { createLog, toErrorFields } from "../../kit/log.ts";

const STDERR = 2;

/** Writes at once, because the process may be about to exit. */
const write = (line: string): void => {
  try {
    writeSync(STDERR, line);
  } catch {
    // Without stderr there is no place to report to.
  }
};

const METHODS = ["debug", "error", "info", "log", "trace", "warn"] as const;

/**
 * Turns all that would be printed outside the log into JSON log lines on stderr: errors that no code caught, warnings of
 * Node.js, and the console output of libraries, some of which would reach stdout.
 *
 * An uncaught exception ends the process with status 1, because its state is unknown. A rejected promise that was not
 * awaited is logged, and the process goes on: one request must not end all others.
 */
export const installLastResort = (): void => {
  const log = createLog("warn", write);
  process.on("uncaughtException", (error) => {
    log.error("process.uncaught_exception", toErrorFields(error));
    process.exit(1);
  });
  process.on("unhandledRejection", (reason) => {
    log.error("process.unhandled_rejection", toErrorFields(reason));
  });
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    log.warn("process.warning", { name, message });
  });
  for (const method of METHODS) {
    console[method] = (...values: unknown[]) => {
      // Errors without their stacks: a log has one line for each event.
      const plain = values.map((value) => (value instanceof Error ? String(value) : value));
      log.warn("library.message", { message: format(...plain) });
    };
  }
};
