import type { CallArguments, Operation } from "../src/contract/operation.ts";
import type { Insight } from "../src/insights/insight.ts";

export type Arguments = CallArguments;
/** Records by name of the read; has the key `ABSENT` if the record does not exist and the call creates it. */
export type Records = Readonly<Record<string, Arguments | undefined>>;
export const ABSENT = "absent";

/** An additional read for a question. A list is passed to the question as `{items}`. */
export type ConfirmationRead = {
  operation: Operation;
  /** Returns the arguments of the read, or undefined to skip it. */
  args: (args: Arguments) => Arguments | undefined;
  /** The record is a row of the list that is read: the call is refused if the list lacks it. */
  isRecord?: (row: Arguments, args: Arguments) => boolean;
};

/** The confirmation by a person before a tool call. The operation's effects decide whether it is needed. */
export type Confirmation = {
  /** Reads before the question. A bare operation reads the record of the arguments; if it does not exist, the call fails. */
  reads: Readonly<Record<string, Operation | ConfirmationRead>>;
  /**
   * Returns the question; records that could not be read are undefined. Returns null if no confirmation
   * is needed: the platform will refuse the call, or it changes nothing that needs one.
   */
  question: (args: Arguments, records: Records) => string | null;
  /**
   * The read whose ETag is sent as If-Match, so that the change applies only to the version in the question. The first
   * read that is a bare operation, if absent.
   */
  etagFrom?: string;
  /** Returns the arguments with the ids of the records in the question in place of their codes. */
  bind?: (args: Arguments, records: Records) => Arguments;
};

/** A sentence in the answer if the platform does not have a record that the call names. */
export type Remark = {
  operation: Operation;
  args: (args: Arguments) => Record<string, unknown>;
  text: (args: Arguments) => string;
};

/** An argument that a call without it takes from a record, where the platform has the record. */
export type Filling = {
  argument: string;
  operation: Operation;
  args: (args: Arguments) => Record<string, unknown>;
  value: (record: Arguments) => unknown;
};

type Described = { name: string; title: string; description: string };

/** An operation as an MCP tool, with the confirmation before it runs. */
export type OperationTool = Described & {
  operation: Operation;
  /** Present if and only if the operation has effects. */
  confirm?: Confirmation;
  /** Of an addition to the documents: what to do on a platform without it. */
  instead?: string;
  /** Known values of arguments; if a list is empty because a value is unknown, the call is refused. */
  known?: Readonly<Record<string, readonly string[]>>;
  /** Arguments that a call without them takes from records. */
  fills?: readonly Filling[];
  /** Reads after the call; its answer has their sentences as `notes`. */
  remarks?: readonly Remark[];
};

/** A question that is answered from several reads, as an MCP tool. */
export type InsightTool = Described & { insight: Insight };

export type Tool = OperationTool | InsightTool;

export const isOperationTool = (tool: Tool): tool is OperationTool => "operation" in tool;
export const isInsightTool = (tool: Tool): tool is InsightTool => "insight" in tool;

type Options = Partial<
  Pick<OperationTool, "title" | "instead" | "confirm" | "fills" | "remarks" | "known">
>;

const VERBS: Record<string, string> = { list: "List", get: "Get", delete: "Delete" };

const toSingular = (noun: string): string => noun.replace(/ies$/, "y").replace(/s$/, "");

/** Converts `disputes.list_by_ids` to `List disputes by ids`. */
const deriveTitle = (id: string): string => {
  const [noun = "", act = ""] = id.split(".").map((part) => part.replaceAll("_", " "));
  const [verb = "", ...rest] = act.split(" ");
  const titleVerb = VERBS[verb] ?? verb.charAt(0).toUpperCase() + verb.slice(1);
  return [titleVerb, verb === "list" ? noun : toSingular(noun), ...rest].join(" ");
};

/** Returns the sentence on the fields of a list's rows. */
const describeRows = ({ list }: Operation): string =>
  list?.defaultFields == null ? "" : ` Rows have ${list.defaultFields.join(", ")} unless fields.`;

/**
 * Defines the tool of an operation; the description defaults to the operation's summary.
 *
 * @throws {TypeError} if the operation has effects and the tool has no confirmation, or the reverse
 */
export const defineTool = (
  operation: Operation,
  description: string = operation.summary,
  { title = deriveTitle(operation.id), ...options }: Options = {},
): OperationTool => {
  if ((options.confirm === undefined) !== (operation.effects.length === 0)) {
    throw new TypeError(`${operation.id} must have a confirmation if and only if it has effects`);
  }
  return {
    name: operation.id.replaceAll(".", "_"),
    operation,
    title,
    description: `${description}${describeRows(operation)}`,
    ...options,
  };
};

/** Defines the tool of an insight. */
export const defineInsightTool = (insight: Insight, description: string): InsightTool => ({
  name: insight.name,
  title: insight.title,
  description,
  insight,
});
