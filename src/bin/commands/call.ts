import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import type { CallArguments } from "../../contract/operation.ts";
import { HOUR } from "../../kit/clock.ts";
import { getMessage } from "../../kit/error.ts";
import { isRecord, parseIfJson } from "../../kit/json.ts";
import { createLog } from "../../kit/log.ts";
import { createOwnCaller } from "../../mcp/caller.ts";
import { SAVED_FORMATS, type SavedFormat } from "../../mcp/results/saved-files.ts";
import { createBuildServer } from "../../mcp/server.ts";
import { nameSaved } from "../../mcp/tools/saving/save.ts";
import type { ToolContext } from "../../mcp/tools/tool-context.ts";
import { compose } from "../compose/compose.ts";
import { withExportKey } from "../compose/export-key.ts";
import { createMcpNeeds } from "../compose/mcp.ts";
import { withProfile } from "../compose/profile.ts";
import { ConfigError } from "../../config/config.ts";
import type { Io } from "./io.ts";

type Options = { csv?: string; xlsx?: string; yes?: true };

const READS_INPUT = "-";

/** Longer than any tool works: whole lists may take half an hour. */
const PATIENCE_MS = HOUR;

/** Reads the arguments of the tool: from the command line, else from standard input unless that is a terminal. */
const readArguments = async (
  { ask, readInput }: Io,
  json: string | undefined,
): Promise<CallArguments> => {
  const isGiven = json !== undefined && json !== READS_INPUT;
  const isAtTerminal = ask !== undefined && json !== READS_INPUT;
  const text = isGiven ? json : isAtTerminal ? "" : await readInput();
  if (text.trim() === "") return {};
  const value = parseIfJson(text);
  if (isRecord(value)) return value;
  const place = isGiven ? "after the name of the tool" : "on standard input";
  throw new ConfigError([
    `The arguments ${place} must be a JSON object, such as '{"text": "Acme"}'.`,
  ]);
};

/** Returns the format and the file of the table to save; undefined if there is none. */
const readTarget = (options: Options): { format: SavedFormat; path: string } | undefined => {
  const [target, ...more] = SAVED_FORMATS.flatMap((format) => {
    const path = options[format];
    return path === undefined ? [] : [{ format, path }];
  });
  if (more.length > 0) throw new ConfigError(["Give --csv or --xlsx, not both."]);
  return target;
};

/** A tool that was refused; its text says what to do, as a model reads it. */
class CallRefused extends Error {}

const UNCONFIRMED = "Nothing was changed. Add --yes to confirm it.";

/** Calls a tool as a host does, and answers its question with yes if the person has said so. */
const callOnce = async (
  context: ToolContext,
  { version, isYes }: { version: string; isYes: boolean },
  call: { name: string; arguments: CallArguments },
): Promise<CallArguments> => {
  let question: string | undefined;
  const client = new Client(
    { name: "receivables-mcp call", version },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    question = params.message;
    return isYes ? { action: "accept", content: { confirm: true } } : { action: "decline" };
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const options = {
    settings: context.settings,
    version,
    log: context.log,
    open: async () => context,
  };
  const server = createBuildServer(options)();
  await server.connect(ours);
  await client.connect(theirs);
  try {
    const {
      isError,
      content,
      structuredContent = {},
    } = await client.callTool(call, {
      timeout: PATIENCE_MS,
    });
    if (isError !== true) return structuredContent as CallArguments;
    if (question !== undefined && !isYes) throw new CallRefused(`${question}\n${UNCONFIRMED}`);
    const text = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    throw new CallRefused(text.join("\n"));
  } finally {
    await client.close();
    await server.close();
  }
};

/** Writes the saved table of an answer into a file. */
const writeSaved = async (
  context: ToolContext,
  { saved }: CallArguments,
  path: string,
): Promise<void> => {
  const name = isRecord(saved) ? String(saved["name"]) : "";
  const file = await context.saved?.open(nameSaved(context, name));
  if (file === undefined) throw new CallRefused("The table was not saved.");
  await pipeline(file.bytes, createWriteStream(path));
};

/** Says that there is no such tool, as a wrong command line. */
const toUsage = (error: unknown): unknown => {
  const message = getMessage(error);
  const at = message.indexOf("Unknown tool:");
  return at === -1 ? error : new ConfigError([message.slice(at)]);
};

/** Calls one tool with the configured profile and prints its structured result. */
export const callTool = async (
  io: Io,
  name: string,
  json: string | undefined,
  options: Options,
): Promise<void> => {
  const target = readTarget(options);
  const given = await readArguments(io, json);
  const config = await withProfile(await withExportKey(io.config, "stdio"));
  // A person reads the result, and a script nothing else.
  const log = createLog(config.log.own ?? "warn");
  const composed = await compose(config, log);
  try {
    const caller = createOwnCaller("default");
    const needs = createMcpNeeds(config, composed, { log, transport: "stdio", caller });
    const settings = { ...needs.settings, discovery: false };
    const context = { ...needs, settings, saveFolder: target ? undefined : needs.saveFolder };
    const args = target === undefined ? given : { ...given, save: target.format };
    const call = { name, arguments: args };
    const isYes = options.yes === true;
    const answer = await callOnce(context, { version: io.version, isYes }, call).catch(
      (error: unknown) => {
        throw toUsage(error);
      },
    );
    if (target !== undefined) await writeSaved(context, answer, target.path);
    io.print(answer);
  } finally {
    await composed.close();
  }
};
