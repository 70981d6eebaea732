import { z } from "zod";
import type { RecordedChange } from "../contract/insights/changes.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { filterInTurns, forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import type { Span } from "./change-records.ts";

/** The kinds of changes, the most important first. */
export const CHANGE_KINDS = [
  "exportFailed",
  "documentClosed",
  "reopened",
  "payment",
  "opened",
  "canceled",
  "closed",
  "reassigned",
  "creditDecided",
  "creditSubmitted",
  "documentReopened",
  "note",
  "file",
  "changed",
  "deleted",
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** Kinds that only the records of changes tell, and not the dates of disputes. */
export const RECORDED_KINDS: readonly ChangeKind[] = [
  "documentClosed",
  "reopened",
  "reassigned",
  "documentReopened",
  "note",
  "file",
  "deleted",
];

/** One event; `disputes` are those concerned. */
export type ChangeEvent = {
  kind: ChangeKind;
  at: number;
  /** The id of the user or key that made the change. */
  by?: string | undefined;
  disputes: readonly Dispute[];
  documentNumber?: string | undefined;
  /** The day of an event that has no time. */
  day?: string | undefined;
  /** Facts beside the dispute and the document. */
  facts?: Record<string, unknown>;
};

/** Times of one change in a record and in the log differ by less. */
const SAME_MS = 5000;

const isNear = (a: number, b: number): boolean => Math.abs(a - b) < SAME_MS;

/** Creates a set of times that tells whether one is near, without a search through all. */
const createTimes = (times: readonly number[]) => {
  /** The first and the last time of each span of {@link SAME_MS}; all of one span are near each other. */
  const spans = new Map<number, [first: number, last: number]>();
  const add = (at: number): void => {
    const span = Math.floor(at / SAME_MS);
    const [first, last] = spans.get(span) ?? [at, at];
    spans.set(span, [Math.min(first, at), Math.max(last, at)]);
  };
  for (const at of times) add(at);
  return {
    add,
    hasNear(at: number): boolean {
      const span = Math.floor(at / SAME_MS);
      return [span - 1, span, span + 1].some((one) =>
        spans.get(one)?.some((other) => isNear(other, at)),
      );
    },
  };
};

/** The facts of a recorded change that are texts. */
const Facts = z.object({
  disputeId: z.string().optional(),
  resourceId: z.string().optional(),
  document_number: z.string().optional(),
  actor: z.string().optional(),
  changed: z.string().optional(),
  assigneeId: z.string().optional(),
  formerAssigneeId: z.string().optional(),
  status: z.string().optional(),
  formerStatus: z.string().optional(),
  formerClosedDate: z.string().optional(),
});
type Facts = z.infer<typeof Facts>;

/** A recorded change with its time and the record it is about. */
export type Entry = { action: string; at: number; facts: Facts };

export const toEntry = ({ action, timestamp, metadata }: RecordedChange): Entry => ({
  action,
  at: Date.parse(timestamp),
  facts: Facts.safeParse(metadata).data ?? {},
});

/** Returns the id of the dispute that an entry is about. */
export const disputeIdOf = ({ facts }: Entry): string | undefined =>
  facts.disputeId ?? facts.resourceId;

const ENDS = { "dispute.closed": "closed", "dispute.canceled": "canceled" } as const;
const ENDED = ["opened", "closed", "canceled"] as const;

type End = { kind: "closed" | "canceled"; at: number; by?: string | undefined };

const toEnd = (status: number, time: string, by?: string): End[] => {
  const kind = ENDED[status];
  return kind === undefined || kind === "opened" ? [] : [{ kind, at: Date.parse(time), by }];
};

/** The ends of a dispute: recorded ones, and others that its dates and later reopenings tell. */
const listEnds = (dispute: Dispute, entries: readonly Entry[]): End[] => {
  const ends = entries.flatMap(({ action, at, facts }): End[] => {
    const kind = ENDS[action as keyof typeof ENDS];
    return kind === undefined ? [] : [{ kind, at, by: facts.actor }];
  });
  const former = entries.flatMap(({ action, facts }) =>
    action === "dispute.reopened" && facts.formerClosedDate !== undefined
      ? toEnd(Number(facts.formerStatus), facts.formerClosedDate)
      : [],
  );
  const present =
    dispute.closedDate === null
      ? []
      : toEnd(dispute.status, dispute.closedDate, dispute.updateUser);
  const times = createTimes(ends.map(({ at }) => at));
  for (const end of [...former, ...present]) {
    if (times.hasNear(end.at)) continue;
    times.add(end.at);
    ends.push(end);
  }
  return ends;
};

/** Fields that change with the status and the assignee, which are events of their own. */
const IMPLIED: readonly string[] = ["assignee", "resolution", "valid"];

const listOtherFields = ({ action, facts: { changed = "" } }: Entry): string[] => {
  const fields = changed.split(",").filter((name) => name !== "" && name !== "assignee");
  return action === "dispute.updated" ? fields : fields.filter((name) => !IMPLIED.includes(name));
};

const UPDATES: readonly string[] = [
  "dispute.updated",
  "dispute.closed",
  "dispute.canceled",
  "dispute.reopened",
];

const listUpdates = (dispute: Dispute, entry: Entry): ChangeEvent[] => {
  const { action, at, facts } = entry;
  if (!UPDATES.includes(action)) return [];
  const base = { at, by: facts.actor, disputes: [dispute] };
  const fields = listOtherFields(entry);
  const isUnknown = action === "dispute.updated" && facts.changed === undefined;
  const events: ChangeEvent[] = [];
  if (action === "dispute.reopened") events.push({ ...base, kind: "reopened" });
  if (facts.formerAssigneeId !== undefined) {
    const { formerAssigneeId: from, assigneeId: to = "" } = facts;
    events.push({ ...base, kind: "reassigned", facts: { from, to } });
  }
  if (fields.length > 0) events.push({ ...base, kind: "changed", facts: { fields } });
  else if (isUnknown) events.push({ ...base, kind: "changed", facts: {} });
  return events;
};

const CONTENTS = { dispute_note: "note", dispute_attachment: "file" } as const;

/** Lists what happened to notes and files; the log and the records both tell a creation. */
const listContents = (dispute: Dispute, entries: readonly Entry[]): ChangeEvent[] => {
  const created = new Set<string>();
  return entries.flatMap(({ action, at, facts }): ChangeEvent[] => {
    const [noun, verb] = action.split(".");
    const kind = CONTENTS[noun as keyof typeof CONTENTS];
    if (kind === undefined) return [];
    const event = { kind, at, by: facts.actor, disputes: [dispute] };
    if (verb !== "created") return [{ ...event, facts: { done: verb } }];
    if (facts.resourceId !== undefined && created.has(facts.resourceId)) return [];
    if (facts.resourceId !== undefined) created.add(facts.resourceId);
    return [event];
  });
};

/** Whether the last change of a dispute is none of those that are known. */
const isUnexplained = (
  { updateDate, createDate }: Dispute,
  entries: readonly Entry[],
  ends: readonly End[],
): boolean => {
  const at = Date.parse(updateDate);
  return (
    !isNear(at, Date.parse(createDate)) &&
    !ends.some((end) => isNear(at, end.at)) &&
    !entries.some((entry) => UPDATES.includes(entry.action) && isNear(at, entry.at))
  );
};

/** Lists what happened to one dispute within the span, from its dates and from what is recorded about it. */
export const listDisputeEvents = (
  dispute: Dispute,
  entries: readonly Entry[],
  { from, to }: Span,
): ChangeEvent[] => {
  const ends = listEnds(dispute, entries);
  const base = { disputes: [dispute] };
  const events: ChangeEvent[] = [
    { ...base, kind: "opened", at: Date.parse(dispute.createDate), by: dispute.createUser },
    ...ends.map((end): ChangeEvent => ({ ...base, ...end })),
    ...entries.flatMap((entry) => listUpdates(dispute, entry)),
    ...listContents(dispute, entries),
  ];
  if (isUnexplained(dispute, entries, ends)) {
    const at = Date.parse(dispute.updateDate);
    events.push({ ...base, kind: "changed", at, by: dispute.updateUser });
  }
  return events.filter(({ at }) => at >= from && at <= to);
};

const toDocumentKind = ({ action, facts }: Entry): ChangeKind | undefined => {
  if (action === "document.closed" || facts.status === "closed") return "documentClosed";
  return facts.status === "open" && facts.formerStatus === "closed"
    ? "documentReopened"
    : undefined;
};

/** Finds the last of ordered times that a condition selects; -Infinity if there is none. */
const findLastTime = (ordered: readonly number[], holds: (at: number) => boolean): number => {
  let [from, to] = [0, ordered.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(ordered[middle] ?? Infinity)) from = middle + 1;
    else to = middle;
  }
  return ordered[from - 1] ?? -Infinity;
};

const byTime = (a: number, b: number): number => a - b;

/** Creates the test of whether a dispute was open just before a time, as far as its dates and the records reach. */
export const createOpenTest = (
  dispute: Dispute,
  entries: readonly Entry[],
): ((at: number) => boolean) => {
  const created = Date.parse(dispute.createDate);
  const reopened = entries
    .flatMap((entry) => (entry.action === "dispute.reopened" ? [entry.at] : []))
    .toSorted(byTime);
  const ended = listEnds(dispute, entries)
    .map((end) => end.at)
    .toSorted(byTime);
  return (at) =>
    created <= at &&
    findLastTime(ended, (one) => one < at) <= findLastTime(reopened, (one) => one <= at);
};

/** Lists the closings and reopenings of documents on which a dispute was open then. */
export const listDocumentEvents = async (
  entries: readonly Entry[],
  openOn: (documentNumber: string, at: number) => readonly Dispute[],
  { from, to }: Span,
): Promise<ChangeEvent[]> => {
  const seen = new Set<string>();
  const events: ChangeEvent[] = [];
  await forEachInTurns(entries, (entry) => {
    const documentNumber = entry.facts.document_number;
    const kind = toDocumentKind(entry);
    if (documentNumber === undefined || kind === undefined) return;
    if (entry.at < from || entry.at > to) return;
    const key = JSON.stringify([documentNumber, kind, entry.at]);
    if (seen.has(key)) return;
    seen.add(key);
    const disputes = openOn(documentNumber, entry.at);
    if (disputes.length === 0) return;
    events.push({ kind, at: entry.at, by: entry.facts.actor, disputes, documentNumber });
  });
  return events;
};

/** Lists the deletions of disputes, of which nothing but the id is left. */
export const listDeletions = async (entries: readonly Entry[]): Promise<ChangeEvent[]> => {
  const deleted = await filterInTurns(entries, ({ action }) => action === "dispute.deleted");
  return mapInTurns(deleted, (entry) => ({
    kind: "deleted",
    at: entry.at,
    by: entry.facts.actor,
    disputes: [],
    facts: { disputeId: disputeIdOf(entry) },
  }));
};
