import { countElapsedDays, endOfDay } from "../contract/insights/calendar.ts";
import type { Reopened } from "../contract/insights/reopened.ts";
import { DISPUTE_STATUSES, type DisputeStatusWord } from "../contract/insights/dispute-filters.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";

/** A dispute as it stood at one time. */
export type Standing = {
  dispute: Dispute;
  status: DisputeStatusWord;
  createdAt: number;
  /** Null while it was open. */
  closedAt: number | null;
  /** Whole days in UTC from the creation to that time; 0 for a dispute created later, by a clock that is ahead. */
  ageDays: number;
};

/** The end of the day that was asked for, or now. */
export type Moment = {
  at: number;
  /** The day or time as results name it. */
  name: string;
  isPast: boolean;
};

/** Returns the end of the day that was asked for, or now. */
export const toMoment = (asOf: string | undefined, now: number): Moment =>
  asOf === undefined
    ? { at: now, name: formatTimestamp(now), isPast: false }
    : { at: endOfDay(asOf), name: asOf, isPast: true };

/** The decision of an open dispute. */
const UNDECIDED = { resolutionId: null, resolutionCode: null, isValid: false };

/** Returns a dispute as it stood; undefined if it did not exist yet. */
export const standAt = (
  dispute: Dispute,
  { at, isPast }: Moment,
  { ended }: Reopened,
): Standing | undefined => {
  const createdAt = Date.parse(dispute.createDate);
  if (isPast && createdAt > at) return undefined;
  const before = ended.get(dispute.disputeId);
  const present = dispute.closedDate === null ? null : Date.parse(dispute.closedDate);
  const closed = before?.closedAt ?? present;
  const isOpenThen = isPast && closed !== null && closed > at;
  return {
    dispute: isOpenThen ? { ...dispute, ...UNDECIDED } : dispute,
    status: isOpenThen ? "Open" : (DISPUTE_STATUSES[before?.status ?? dispute.status] ?? "Open"),
    createdAt,
    closedAt: isOpenThen ? null : closed,
    ageDays: countElapsedDays(createdAt, at),
  };
};
