import type { Broker } from "../../../broker/port.ts";
import type { CallOptions, Reply } from "../../../client/port.ts";
import { Problem } from "../../../contract/errors.ts";
import type { CallArguments } from "../../../contract/operation.ts";
import {
  findSpellings,
  hasNumbers,
  listNumbers,
  type NumberKind,
  respellArguments,
} from "../../../insights/spellings.ts";
import { createNumberContext } from "../../results/number-context.ts";
import { sanitizeLine } from "../../results/sanitize.ts";

type Context = { broker: Broker; options: CallOptions };

/** The argument with a number, and whose number it is. */
type Numbered = { argument: string; kind: NumberKind };

const NUMBERED: Readonly<Record<string, Numbered>> = {
  account_not_found: { argument: "account_number", kind: "account" },
  document_not_found: { argument: "document_number", kind: "document" },
};

const MAX_SIMILAR = 5;

/**
 * Reads a record by its account or document number. If the platform knows the number only in another letter case, that
 * record is read; if it knows similar numbers, the error names them.
 *
 * @throws {Problem}
 */
export const readByNumber = async <Args extends CallArguments, T>(
  context: Context,
  args: Args,
  read: (args: Args) => Promise<T>,
): Promise<T> => {
  try {
    return await read(args);
  } catch (error) {
    const numbered = error instanceof Problem ? NUMBERED[error.code] : undefined;
    const sent = numbered === undefined ? undefined : args[numbered.argument];
    if (!(error instanceof Problem) || numbered === undefined || typeof sent !== "string") {
      throw error;
    }
    const numbers = await createNumberContext(context.broker, context.options);
    const spellings = await findSpellings(numbers, numbered.kind, sent);
    const attempts = await Promise.allSettled(
      spellings.map((spelling) => read({ ...args, [numbered.argument]: spelling })),
    );
    const [found, ...others] = attempts.filter(({ status }) => status === "fulfilled");
    if (found?.status === "fulfilled" && others.length === 0) return found.value;
    const similar = new Set(
      others.length > 0 ? spellings : await listNumbers(numbers, numbered.kind, sent, MAX_SIMILAR),
    );
    if (similar.size === 0) throw error;
    const listed = [...similar].map((number) => sanitizeLine(number, 80)).join(", ");
    throw new Problem(error.code, `${error.message} Similar: ${listed}.`, error.details, error);
  }
};

const isEmpty = ({ output }: Reply): boolean => {
  const rows: unknown =
    typeof output === "object" && output !== null && "data" in output ? output.data : output;
  return Array.isArray(rows) && rows.length === 0;
};

/**
 * Reads a page of a list. If it has no rows, it is read with other spellings of the numbers in the arguments, which a
 * cursor may belong to.
 *
 * @throws {Problem}
 */
export const listInAnyCase = async (
  { broker, options }: Context,
  args: CallArguments,
  ask: (args: CallArguments) => Promise<Reply>,
): Promise<Reply> => {
  const [first] = await Promise.allSettled([ask(args)]);
  const mayHaveOthers = hasNumbers(args) || args["filters"] !== undefined;
  const isOfOther = mayHaveOthers && typeof args["cursor"] === "string";
  if (first.status === "rejected" && !isOfOther) throw first.reason;
  if (first.status === "fulfilled" && !(mayHaveOthers && isEmpty(first.value))) return first.value;
  const numbers = await createNumberContext(broker, options);
  for (const respelt of await respellArguments(numbers, args)) {
    // One after the other is fast enough: most numbers have one other spelling.
    const other = await ask(respelt);
    if (!isEmpty(other)) return other;
  }
  if (first.status === "rejected") throw first.reason;
  return first.value;
};
