import { hideSecrets } from "./secret.ts";
import { escapeControls } from "./text.ts";
import { traceIds } from "./tracing.ts";

/** Fields of a log line. Logs are lines on stderr with a literal event name; stdout is never a log. */
export type Fields = Record<string, unknown>;
export type Log = {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
};

export const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type Level = (typeof LEVELS)[number];

const MOST_FRAMES = 50;

// One of this program's files in a line of a stack, from its folder on.
const FRAME = /\b(?:src|dist|tools|prompts|scripts)\/[\w./-]{1,200}:\d{1,9}/;

/** The first place of this program in a stack. */
const findPlace = ({ stack = "" }: Error): string | undefined =>
  stack
    .split("\n", MOST_FRAMES)
    .map((line) => FRAME.exec(line)?.[0])
    .find((place) => place !== undefined);

/** Converts an error to fields that survive JSON: message, place and cause. A log has no stacks. */
export const toErrorFields = (error: unknown): Fields =>
  error instanceof Error
    ? {
        error: error.message,
        at: findPlace(error),
        ...(error.cause === undefined ? {} : { cause: String(error.cause) }),
      }
    : { error: String(error) };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const SECRET_HEADERS = /^(?:(?:proxy-)?authorization|cookie|x-[\w-]{1,64}(?:auth|key))$/i;

/** Shorter texts would match unrelated ones by chance. */
const SECRET_LENGTH = 8;

const listSecrets = (headers: Headers): string[] =>
  Object.entries(headers)
    .filter(([name]) => SECRET_HEADERS.test(name))
    .flatMap(([, value]) => [value].flat())
    .flatMap((value = "") => value.split(/[\s;=,]/))
    .filter(({ length }) => length >= SECRET_LENGTH);

/** Converts an error that no code expected: its words may repeat the credentials of the request. */
export const toFailureFields = (error: unknown, headers: Headers): Fields => {
  const secrets = listSecrets(headers);
  return Object.fromEntries(
    Object.entries(toErrorFields(error)).map(([name, value]) => [
      name,
      typeof value === "string" ? hideSecrets(value, secrets) : value,
    ]),
  );
};

type Line = { time: string; level: Level; event: string } & Fields;

const formatJson = (line: Line): string => JSON.stringify(line);

const formatValue = (value: unknown): string =>
  typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : (JSON.stringify(value) ?? "");

/** Formats a line for a person: the time of day, the level, the event and its fields, without stacks. */
const formatText = ({ time, level, event, stack: _stack, ...fields }: Line): string =>
  [
    `${time.slice(11, 19)} ${level.padEnd(5)} ${event}`,
    ...Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${formatValue(value)}`),
  ].join(" ");

let format = formatJson;

/** Sets the form of the lines of this process, once: JSON unless a person's terminal shows them. */
export const setLogFormat = (form: "json" | "text"): void => {
  format = form === "json" ? formatJson : formatText;
};

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
      const line = format({ time, level: name, event, ...fields, ...traceIds() });
      write(`${escapeControls(line)}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
};

export const silentLog: Log = createLog("silent");
