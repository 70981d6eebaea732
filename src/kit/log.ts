import { escapeControls } from "./text.ts";
import { traceIds } from "./tracing.ts";

/** Fields of a log line. Logs are JSON lines on stderr with a literal event name; stdout is never a log. */
export type Fields = Record<string, unknown>;
export type Log = {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
};

export const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type Level = (typeof LEVELS)[number];

/** Converts an error to fields that survive JSON: message, stack and cause. */
export const toErrorFields = (error: unknown): Fields =>
  error instanceof Error
    ? {
        error: error.message,
        stack: error.stack,
        ...(error.cause === undefined ? {} : { cause: String(error.cause) }),
      }
    : { error: String(error) };

export const createLog = (
  level: Level,
  write: (line: string) => void = (line) => process.stderr.write(line),
  now: () => number = Date.now,
): Log => {
  const at =
    (name: Level) =>
    (event: string, fields: Fields = {}) => {
      if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return;
      const time = new Date(now()).toISOString();
      const line = JSON.stringify({ time, level: name, event, ...fields, ...traceIds() });
      write(`${escapeControls(line)}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
};

export const silentLog: Log = createLog("silent");
