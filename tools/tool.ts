import type { CallArguments, Operation } from "../src/contract/operation.ts";

export type Arguments = CallArguments;
/** Records by the names of the reads; `ABSENT` is among them where the record does not exist and the call creates it. */
export type Records = Readonly<Record<string, Arguments | undefined>>;
export const ABSENT = "absent";

/** A read for a question beside the record itself. A list comes as `{items}`. */
export type ConfirmationRead = {
  operation: Operation;
  /** The arguments of the read; undefined where there is nothing to read. */
  args: (args: Arguments) => Arguments | undefined;
  /** The argument that names the record: the call is refused where there is none of that name. */
  names?: string;
};

/** The question to a person before a tool acts. Whether they are asked follows from the operation's effects. */
export type Confirmation = {
  /** The reads beforehand. An operation alone reads the record that the arguments name; where it is missing, the call ends. */
  reads: Readonly<Record<string, Operation | ConfirmationRead>>;
  /**
   * The question, about the records as far as they could be read; null where the records show that
   * the platform will refuse the call or that nothing ends.
   *
   * @throws {Problem} where the platform would refuse the call
   */
  question: (args: Arguments, records: Records) => string | null;
  /** The read whose ETag goes with the change: it is made to that version of the record, and no other. */
  holds?: string;
};

/** The description of one operation for a model, and the question before it runs. */
export type Tool = {
  name: string;
  operation: Operation;
  title: string;
  description: string;
  /** Present exactly where the operation has effects. */
  confirm?: Confirmation;
};

type Options = { title?: string; confirm?: Confirmation };

const VERBS: Record<string, string> = { list: "List", get: "Get", delete: "Delete" };

const toSingular = (noun: string): string => noun.replace(/ies$/, "y").replace(/s$/, "");

/** `disputes.list_by_ids` as `List disputes by ids`. */
const deriveTitle = (id: string): string => {
  const [noun = "", act = ""] = id.split(".").map((part) => part.replaceAll("_", " "));
  const [verb = "", ...rest] = act.split(" ");
  const shown = VERBS[verb] ?? verb.charAt(0).toUpperCase() + verb.slice(1);
  return [shown, verb === "list" ? noun : toSingular(noun), ...rest].join(" ");
};

/**
 * The tool of an operation, with a description of its own where the summary does not suffice.
 *
 * @throws {TypeError} where the operation has effects and the tool no question, or the reverse
 */
export const defineTool = (
  operation: Operation,
  words: string = operation.summary,
  { title, confirm }: Options = {},
): Tool => {
  if ((confirm === undefined) !== (operation.effects.length === 0)) {
    throw new TypeError(`${operation.id} needs a question exactly where it has effects`);
  }
  return {
    name: operation.id.replaceAll(".", "_"),
    operation,
    title: title ?? deriveTitle(operation.id),
    description: words,
    ...(confirm === undefined ? {} : { confirm }),
  };
};
