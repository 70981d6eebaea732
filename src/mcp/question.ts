import type { Broker } from "../broker/port.ts";
import type { CallOptions } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import { type Operation, pathParameters } from "../contract/operation.ts";
import type { Arguments, Tool } from "../../tools/tool.ts";
import { clean, cleanLine } from "./clean.ts";
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

/**
 * What the person is asked, in words about the records themselves. A record that may not or cannot be read is named as
 * the call names it; one that does not exist ends the call, since there is nothing to ask about.
 */
export const questionOf = async (
  broker: Broker,
  { confirm }: Tool,
  args: Arguments,
  options: CallOptions,
): Promise<string> => {
  const read = async (operation: Operation): Promise<Arguments | undefined> => {
    try {
      const { output } = await broker.call(operation, argumentsFor(operation, args), options);
      return isRecord(output) ? (clean(output) as Arguments) : undefined;
    } catch (error) {
      if (!(error instanceof Problem) || options.signal?.aborted === true) throw error;
      if (error.code === "not_found" && isDocumented(operation)) throw error;
      return undefined;
    }
  };
  const reads = Object.entries(confirm?.reads ?? {});
  const found = await Promise.all(
    reads.map(async ([name, operation]) => [name, await read(operation)] as const),
  );
  return cleanLine(confirm?.question(args, Object.fromEntries(found)) ?? "", MAX_QUESTION);
};
