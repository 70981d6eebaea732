import type { Calendar } from "../contract/insights/calendar.ts";
import type { Reopened } from "../contract/insights/reopened.ts";
import { DISPUTE_STATUSES, type DisputeStatusWord } from "../contract/insights/dispute-filters.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import type { InsightContext } from "./insight.ts";

/** A dispute as it stood at one time. */
export type Standing = {
  dispute: Dispute;
  status: DisputeStatusWord;
  createdAt: number;
  /** Null while it was open. */
  closedAt: number | null;
  /** Days from the creation to that time; 0 for a dispute created later, by a clock that is ahead. */
  ageDays: number;
  /** Days from the creation to the closing; null while it was open. */
  daysToClose: number | null;
};

/** The end of the day, or the time, that was asked for, or now. */
export type Moment = {
  at: number;
  /** The day or time as results name it. */
  name: string;
  isPast: boolean;
  /** The days of the tenant. */
  calendar: Calendar;
};

/** Returns the end of the day, or the time, that was asked for, or now. */
export const toMoment = (
  asOf: string | undefined,
  { now, calendar }: Pick<InsightContext, "now" | "calendar">,
): Moment => {
  if (asOf !== undefined) return { at: calendar.endOf(asOf), name: asOf, isPast: true, calendar };
  const at = now();
  return { at, name: formatTimestamp(at), isPast: false, calendar };
};

/** The decision of an open dispute. */
const UNDECIDED = { resolutionId: null, resolutionCode: null, isValid: false };

/** Returns a dispute as it stood; undefined if it did not exist yet. */
export const standAt = (
  dispute: Dispute,
  { at, isPast, calendar }: Moment,
  { ended }: Reopened,
): Standing | undefined => {
  const createdAt = Date.parse(dispute.createDate);
  if (isPast && createdAt > at) return undefined;
  const before = ended.get(dispute.disputeId);
  const present = dispute.closedDate === null ? null : Date.parse(dispute.closedDate);
  const closed = before?.closedAt ?? present;
  const isOpenThen = isPast && closed !== null && closed > at;
  const closedAt = isOpenThen ? null : closed;
  return {
    dispute: isOpenThen ? { ...dispute, ...UNDECIDED } : dispute,
    status: isOpenThen ? "Open" : (DISPUTE_STATUSES[before?.status ?? dispute.status] ?? "Open"),
    createdAt,
    closedAt,
    ageDays: calendar.countElapsedDays(createdAt, at),
    daysToClose: closedAt === null ? null : calendar.daysBetween(createdAt, closedAt),
  };
};
