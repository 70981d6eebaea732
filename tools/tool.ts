import type { Operation } from "../src/contract/operation.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** When and how a person is asked before a tool acts. */
export type Consent = {
  /** What reads the records in question, by the arguments that its path names. */
  reads: Readonly<Record<string, Operation>>;
  /** The question, about the records as far as they could be read; null where these arguments need none. */
  question: (
    args: Arguments,
    records: Readonly<Record<string, Arguments | undefined>>,
  ) => string | null;
  /** The one of `reads` that the change is for: once confirmed, it holds for that record as it was then, and no other. */
  holds?: string;
};

/** What a model is told of one operation, and when a person is asked before it runs. */
export type Tool = {
  name: string;
  operation: Operation;
  title: string;
  description: string;
  /** Absent: never asks. */
  confirm?: Consent;
};

type Options = { title?: string; confirm?: Consent };

const VERBS: Record<string, string> = { list: "List", get: "Get", delete: "Delete" };

const singular = (noun: string): string => noun.replace(/ies$/, "y").replace(/s$/, "");

/** `disputes.list_by_ids` as `List disputes by ids`. */
const titleOf = (id: string): string => {
  const [noun = "", act = ""] = id.split(".").map((part) => part.replaceAll("_", " "));
  const [verb = "", ...rest] = act.split(" ");
  const shown = VERBS[verb] ?? verb.charAt(0).toUpperCase() + verb.slice(1);
  return [shown, verb === "list" ? noun : singular(noun), ...rest].join(" ");
};

/** A tool of an operation; `words` where the operation's summary does not suffice for a model. */
export const tool = (
  operation: Operation,
  words: string = operation.summary,
  { title, confirm }: Options = {},
): Tool => ({
  name: operation.id.replaceAll(".", "_"),
  operation,
  title: title ?? titleOf(operation.id),
  description: words,
  ...(confirm === undefined ? {} : { confirm }),
});
