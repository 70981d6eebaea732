/** The kinds of tasks: a question with a trap, a judgement, a change to make, a request to refuse. */
export type Kind = "question" | "judgement" | "change" | "refusal";

/** A record as the documented REST API returns it, without what reading it changes. */
export type ApiRecord = Readonly<Record<string, unknown>>;

/** Records of one kind by their id or number. */
export type Records = ReadonlyMap<string, ApiRecord>;

/**
 * The tenant's records before or after a task, read through the REST API: every kind of record that
 * a tool of this server may change, by id. A grader compares two states record by record.
 */
export type State = {
  /** All of them by dispute code, each with its last activity and the counts of its notes and attachments. */
  disputes: Records;
  /** Notes of the disputes that tasks are about, by note id. */
  notes: Records;
  /** Attachments of the disputes that tasks are about, by attachment id. */
  attachments: Records;
  /** Categories, reasons, resolutions, departments and assignees, by kind, code and id. */
  configuration: Records;
  /** Accounts that tasks are about, by number. */
  accounts: Records;
  /** Documents that tasks are about, by number. */
  documents: Records;
  /** Export schedules, by id. */
  schedules: Records;
};

/** One tool call of a transcript. */
export type Call = { name: string; arguments: Record<string, unknown>; isError: boolean };

/** The answer and calls of a player, with the records before and after. */
export type Outcome = { answer: string; calls: readonly Call[]; before: State; after: State };

/** A way to do a task: tool calls in order, then the answer. */
export type Transcript = {
  calls: readonly { name: string; arguments: Record<string, unknown> }[];
  answer: string;
};

export type Task = {
  /** In kebab case, of no other task. */
  name: string;
  kind: Kind;
  /** The words of the analyst; they name no tool. */
  prompt: string;
  /** Returns the reasons why the outcome is not right; none where the task is passed. */
  grade(outcome: Outcome): readonly string[];
  /** A right way to do it. */
  right: Transcript;
  /** At least two ways that do not pass. */
  wrong: readonly Transcript[];
};
