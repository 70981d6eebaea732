import type { Reply } from "../client/port.ts";
import type { Operation } from "../contract/operation.ts";
import type { InsightContext } from "./insight.ts";
import { isAbsence } from "./read-part.ts";

type Made<O extends Operation = Operation> = { operation: O; reply: Promise<Reply<O>> };

const isCallOf = <O extends Operation>(made: Made | undefined, operation: O): made is Made<O> =>
  made?.operation === operation;

/**
 * Returns a context that makes each call once, because searches of several types need the same lists, and says whether
 * all of them were answered.
 */
export const rememberCalls = (given: InsightContext) => {
  const known = new Map<string, Made>();
  let isWhole = true;
  const callOnce: InsightContext["call"] = async (operation, args) => {
    try {
      return await given.call(operation, args);
    } catch (error) {
      isWhole &&= isAbsence(error);
      throw error;
    }
  };
  const call: InsightContext["call"] = (operation, args) => {
    const name = JSON.stringify([operation.id, args]);
    const made = known.get(name);
    if (isCallOf(made, operation)) return made.reply;
    const reply = callOnce(operation, args);
    known.set(name, { operation, reply });
    return reply;
  };
  return { context: { ...given, call }, isWhole: () => isWhole };
};
