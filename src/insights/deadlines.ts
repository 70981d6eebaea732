import { contract } from "../contract/index.ts";
import { DUE_DAYS } from "../contract/insights/dispute-triage.ts";
import type { InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";

const { reasons } = contract;

/** The days within which disputes are to be decided, from their creation. */
export type Deadlines = {
  /** Whether any dispute can have a deadline. */
  isSet: boolean;
  /** Returns the days left for an open dispute of a reason and an age; negative after the deadline. */
  daysLeft(dispute: { reasonId: string; ageDays: number; isOpen: boolean }): number | undefined;
  notes: string[];
};

/** The addition by which the list of reasons tells the days of each. */
const DAYS = `${reasons.list.id}.${reasons.list.additions?.name}`;

/** Creates deadlines from the days of reasons. */
export const createDeadlines = (
  daysOf: (reasonId: string) => number | undefined,
  isSet: boolean,
  notes: string[] = [],
): Deadlines => ({
  isSet,
  notes,
  daysLeft({ reasonId, ageDays, isOpen }) {
    const days = isOpen ? daysOf(reasonId) : undefined;
    return days === undefined ? undefined : days - ageDays;
  },
});

/** Reads the days of reasons, which are those of the tenant where a reason has none; those of the call come first. */
export const readDeadlines = async (
  context: InsightContext,
  deadlineDays: number | undefined,
): Promise<Deadlines> => {
  if (deadlineDays !== undefined) return createDeadlines(() => deadlineDays, true);
  if (!context.extensions.has(DAYS)) return createDeadlines(() => undefined, false);
  const part = await readPart(context, reasons.list, { DisputeDays: true });
  if (part.refused !== undefined) {
    const note = `Deadlines of reasons cannot be read: ${part.refused.reason}`;
    return createDeadlines(() => undefined, false, [note]);
  }
  const days = new Map<string, number>();
  for (const { reasonId, disputeDays } of part.value) {
    if (typeof disputeDays === "number") days.set(reasonId, disputeDays);
  }
  return createDeadlines((reasonId) => days.get(reasonId), days.size > 0);
};

/** Whether a deadline is near or over. */
export const isDue = (daysLeft: number | undefined): daysLeft is number =>
  daysLeft !== undefined && daysLeft <= DUE_DAYS;

const count = (days: number): string => `${days} ${days === 1 ? "day" : "days"}`;

/** Says in words when a dispute is due; its invoice has a due date of its own. */
export const describeDue = (daysLeft: number): string => {
  if (daysLeft === 0) return "decision due today";
  return daysLeft > 0
    ? `decision due in ${count(daysLeft)}`
    : `decision overdue by ${count(-daysLeft)}`;
};
