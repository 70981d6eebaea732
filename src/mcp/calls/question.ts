import type { Broker } from "../../broker/port.ts";
import type { CallOptions, Reply } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { type Operation, pathParameters } from "../../contract/operation.ts";
import type { Arguments, Tool } from "../../../tools/tool.ts";
import { clean, cleanLine } from "../answer/clean.ts";
import { isDocumented } from "./kinds.ts";

const MAX_QUESTION = 600;

const isRecord = (value: unknown): value is Arguments =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const argumentsFor = ({ path }: Operation, args: Arguments): Record<string, unknown> =>
  Object.fromEntries(
    pathParameters(path).flatMap((name) => (name in args ? [[name, args[name]]] : [])),
  );

/** Whether a person is asked before a tool runs with these arguments. */
export const asksAbout = ({ confirm }: Tool, args: Arguments): boolean =>
  confirm !== undefined && confirm.question(args, {}) !== null;

/** What a person is asked, or null where it turns out that nobody is; and the ETag of the record that it is about. */
export type Asking = { summary: string | null; etag: string | null };

const NOBODY: Asking = { summary: null, etag: null };

const recordIn = (reply: Reply | undefined): Arguments | undefined =>
  isRecord(reply?.output) ? (clean(reply.output) as Arguments) : undefined;

/**
 * What the person is asked, in words about the records themselves. A record that may not or cannot be read is named as
 * the call names it. One that does not exist ends the call, since there is nothing to ask about; where the call makes
 * it, nobody is asked.
 */
export const askingOf = async (
  broker: Broker,
  { operation: { upsert }, confirm }: Tool,
  args: Arguments,
  options: CallOptions,
): Promise<Asking> => {
  let absent = false;
  const read = async (operation: Operation): Promise<Reply | undefined> => {
    try {
      return await broker.call(operation, argumentsFor(operation, args), options);
    } catch (error) {
      if (!(error instanceof Problem) || options.signal?.aborted === true) throw error;
      const isMissing = error.status === 404 && isDocumented(operation);
      if (isMissing && !upsert) throw error;
      absent ||= isMissing;
      return undefined;
    }
  };
  if (confirm === undefined) return NOBODY;
  const { reads, holds = "", question } = confirm;
  const found = await Promise.all(
    Object.entries(reads).map(async ([name, operation]) => [name, await read(operation)] as const),
  );
  if (absent) return NOBODY;
  const records = found.map(([name, reply]) => [name, recordIn(reply)] as const);
  const summary = question(args, Object.fromEntries(records));
  return {
    summary: summary === null ? null : cleanLine(summary, MAX_QUESTION),
    etag: found.find(([name]) => name === holds)?.[1]?.etag ?? null,
  };
};
