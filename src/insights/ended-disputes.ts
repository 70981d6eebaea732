import type { Calendar } from "../contract/insights/calendar.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { omitNulls, toTenantDay } from "./brief.ts";

/** Disputes that have ended are named to a claim: so many of its document. */
const MOST_ENDED = 3;
const [OPEN, CLOSED] = [0, 1] as const;

/** A dispute without a closing day ended at its last change. */
const endOf = ({ closedDate, updateDate }: Dispute): string => closedDate ?? updateDate;

/** Returns the disputes of a document that have ended: those over the amount first, then the newest. */
export const listEnded = (disputes: readonly Dispute[], amount: number | undefined): Dispute[] =>
  disputes
    .filter(({ status }) => status !== OPEN)
    .toSorted(
      (a, b) =>
        Number(b.amount === amount) - Number(a.amount === amount) ||
        Date.parse(endOf(b)) - Date.parse(endOf(a)),
    )
    .slice(0, MOST_ENDED);

export type EndedDispute = {
  disputeCode: string;
  status: "Closed" | "Canceled";
  amount: number;
  endedOn?: string;
  resolutionCode?: string;
};

/** Describes a dispute that has ended; its day is the tenant's. */
export const describeEnded = (dispute: Dispute, calendar: Calendar): EndedDispute =>
  omitNulls({
    disputeCode: dispute.disputeCode,
    status: dispute.status === CLOSED ? "Closed" : "Canceled",
    amount: dispute.amount,
    endedOn: toTenantDay(calendar, endOf(dispute)),
    resolutionCode: dispute.resolutionCode,
  }) as EndedDispute;
