import type { Operation } from "../src/contract/operation.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** What a model is told of one operation, and when a person is asked before it runs. */
export type Tool = {
  name: string;
  operation: Operation;
  title: string;
  description: string;
  /** The question for the person, or null where these arguments need none. Absent: never asks. */
  confirm?: (args: Arguments) => string | null;
};

type Options = { title?: string; confirm?: Tool["confirm"] };

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

const SHOWN_CHARACTERS = 80;

/** An argument as a person may read it in a question: quoted, on one line, of bounded length. */
export const quoted = (value: unknown): string => {
  const text = [...String(value)];
  const shown = text.length > SHOWN_CHARACTERS ? [...text.slice(0, SHOWN_CHARACTERS), "…"] : text;
  return JSON.stringify(shown.join(""));
};
