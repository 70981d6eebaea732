/** The words of the contract that views send, with what people read for them. Only types are loaded from there. */
import type { NoteVisibility } from "../../contract/fields.ts";
import type { DisputeStatusWord } from "../../contract/insights/dispute-filters.ts";
import type { TriageFlag, TriageOrder } from "../../contract/insights/dispute-triage.ts";

/** A choice for each word, in the order of the record. */
export const toChoices = <Word extends string>(
  texts: Readonly<Record<Word, string>>,
): { value: Word; text: string }[] =>
  Object.entries(texts).map(([value, text]) => ({ value: value as Word, text: text as string }));

export const VISIBILITIES: Readonly<Record<NoteVisibility, string>> = {
  Internal: "Internal",
  All: "External: the customer sees it",
};

/** Whether the customer sees a note or a file. */
export const isExternal = (visibility: unknown): boolean =>
  visibility === ("All" satisfies NoteVisibility);

export const STATUS = {
  open: "Open",
  closed: "Closed",
} as const satisfies Record<string, DisputeStatusWord>;

export const ORDERS: Readonly<Record<TriageOrder, string>> = {
  priority: "Priority",
  amount: "Amount",
  age: "Age",
  daysLeft: "Deadline",
};

export const FLAGS: Readonly<Record<TriageFlag, string>> = {
  documentClosed: "Document closed",
  duplicate: "Possible duplicate",
  unassigned: "Unassigned",
  stale: "No activity for 10 days",
  due: "Decision due in 7 days or overdue",
};
