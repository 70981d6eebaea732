import type { CallArguments } from "../../../contract/operation.ts";
import { canonical } from "../binding.ts";

/**
 * The arguments that the records in a question replace, as JSON: codes become ids, so that a code that moves to another
 * record after the question changes nothing. Null removes an argument.
 */
export type Bound = CallArguments;

/** Returns the difference of two sets of arguments. */
export const toBound = (sent: CallArguments, resolved: CallArguments): Bound => {
  const removed = Object.keys(sent).filter((name) => !(name in resolved));
  const changed = Object.entries(resolved).filter(
    ([name, value]) => value !== sent[name] && canonical(value) !== canonical(sent[name]),
  );
  return {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...Object.fromEntries(changed),
  };
};

/** Returns the arguments with what was bound when the question was asked. */
export const withBound = (sent: CallArguments, bound: Bound): CallArguments =>
  Object.keys(bound).length === 0
    ? sent
    : Object.fromEntries(
        Object.entries({ ...sent, ...bound }).filter(
          ([name, value]) => value !== null || !(name in bound),
        ),
      );
