import type { CallArguments } from "../../contract/operation.ts";
import { appendFileSync, closeSync, constants, fstatSync, openSync, renameSync } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Clock, formatTimestamp } from "../../kit/clock.ts";
import { createHmacSha256 } from "../../kit/hmac.ts";
import { randomToken } from "../../kit/ids.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { makeFolder } from "../../kit/make-folder.ts";
import { escapeControls } from "../../kit/text.ts";
import { canonical } from "./binding.ts";

/** One call of a tool, as it is kept: who, what and how it ended, never a value or a secret. */
export type CalledTool = {
  /** The caller's id. */
  caller: string;
  tenantId: string;
  /** The credential's owner. */
  principal: string;
  tool: string;
  args: CallArguments;
  /** `done`, `asked`, or the code of the refusal. */
  outcome: string;
  ms: number;
  /** Of the last exchange with the platform, by which its own log knows the call. */
  requestId: string | null;
};

/** The MCP server's own log of tool calls. */
export type CallLog = {
  /** Resolves when the line is in the file. A line that cannot be written is logged as an error. */
  record(call: CalledTool): Promise<void>;
};

export type CallLogNeeds = {
  path: string;
  /** By which hosts reach this server. */
  transport: "stdio" | "http";
  /** The key of the hashes, so that a value cannot be guessed from its hash. */
  key: Buffer;
  now: Clock;
  log: Log;
};

export const MOST_BYTES = 10 * 1024 * 1024;
const FILES_KEPT = 10;
const HASH_CHARACTERS = 22;

const rotatedName = (path: string): RegExp => {
  const ending = extname(path);
  const stem = basename(path, ending).replace(/[^\w-]/g, String.raw`\$&`);
  return new RegExp(String.raw`^${stem}-\d{4}-.*${ending.replace(".", String.raw`\.`)}$`);
};

/** The log's files, oldest first; the last is the one that is written. */
export const callLogFiles = async (path: string): Promise<string[]> => {
  const names = await readdir(dirname(path)).catch((): string[] => []);
  const rotated = names.filter((name) => rotatedName(path).test(name)).toSorted();
  const current = names.includes(basename(path)) ? [basename(path)] : [];
  return [...rotated, ...current].map((name) => join(dirname(path), name));
};

// A name of its own, so that of two processes that rotate at once neither overwrites what the other put away.
const putAway = async (path: string, now: number): Promise<void> => {
  const ending = extname(path);
  const mark = `${formatTimestamp(now).replaceAll(":", "")}-${randomToken().slice(0, 6)}`;
  renameSync(path, `${path.slice(0, path.length - ending.length)}-${mark}${ending}`);
  const files = await callLogFiles(path);
  const old = files.filter((file) => file !== path).slice(0, -(FILES_KEPT - 1));
  await Promise.all(old.map((file) => unlink(file).catch(() => {})));
};

const APPENDING =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/**
 * Appends to a plain file with one name: a symbolic or hard link would put the lines into another file. Returns false,
 * and writes nothing, if the file has `most` bytes. It uses no threads: waiting for one takes longer than all these
 * calls together.
 */
const appendLines = (path: string, lines: string, most: number): boolean => {
  const file = openSync(path, APPENDING, 0o600);
  try {
    const about = fstatSync(file);
    if (!about.isFile() || about.nlink > 1) throw new Error(`${path} is a link or no plain file`);
    if (about.size >= most) return false;
    appendFileSync(file, lines);
    return true;
  } finally {
    closeSync(file);
  }
};

/** A log of one JSON line per call that several processes may write at once. */
export const createCallLog = ({ path, transport, key, now, log }: CallLogNeeds): CallLog => {
  const hash = createHmacSha256(key, "base64url");
  const hashArguments = (args: CallArguments): string =>
    hash(`tool arguments ${canonical(args)}`).slice(0, HASH_CHARACTERS);

  const append = async (lines: string): Promise<void> => {
    if (appendLines(path, lines, MOST_BYTES)) return;
    await putAway(path, now()).catch(() => {});
    appendLines(path, lines, Infinity);
  };

  let waiting: { lines: string; written: Promise<void> } | undefined;

  const writeWaiting = async (): Promise<void> => {
    await setImmediate();
    const { lines = "" } = waiting ?? {};
    waiting = undefined;
    await append(lines).catch(async () => {
      await makeFolder(dirname(path));
      await append(lines);
    });
  };

  /** Writes a line, together with those of other calls that end in the same turn of the event loop. */
  const write = (line: string): Promise<void> => {
    waiting ??= { lines: "", written: writeWaiting() };
    waiting.lines += line;
    return waiting.written;
  };

  return {
    async record({ caller, tenantId, principal, tool, args, outcome, ms, requestId }) {
      const line = {
        time: formatTimestamp(now()),
        door: transport,
        caller,
        tenantId,
        principal,
        tool,
        arguments: Object.keys(args).toSorted(),
        argumentsHash: hashArguments(args),
        outcome,
        ms,
        requestId,
      };
      await write(`${escapeControls(JSON.stringify(line))}\n`).catch((error: unknown) =>
        log.warn("call_log.failed", toErrorFields(error)),
      );
    },
  };
};
