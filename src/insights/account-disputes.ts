import { DISPUTE_STATUSES } from "../contract/insights/dispute-filters.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { sumByCurrency } from "./currency-totals.ts";
import { formatTenths } from "./decimal.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readReopened } from "./matching-disputes.ts";
import { readDisputes } from "./read-disputes.ts";
import { type Moment, standAt, type Standing } from "./standing.ts";

const LARGEST = 5;
const OPEN = 0;
const CLOSED = 1;

const averageDaysToClose = (
  closed: readonly Dispute[],
  { daysBetween }: Calendar,
): number | null => {
  const days = closed.flatMap(({ createDate, closedDate }) =>
    closedDate === null ? [] : [daysBetween(Date.parse(createDate), Date.parse(closedDate))],
  );
  return formatTenths(
    days.reduce((sum, one) => sum + one, 0),
    days.length,
  );
};

const toLargest = (
  { disputeCode, documentNumber, amount, currencyCode, reasonName, createDate }: Dispute,
  calendar: Calendar,
) => ({
  disputeCode,
  documentNumber,
  amount,
  currencyCode,
  reasonName,
  createDate: calendar.toDay(createDate),
});

/** Open and closed disputes of an account with their figures. */
export const summarizeDisputes = (all: readonly Dispute[], calendar: Calendar) => {
  const open = all.filter(({ status }) => status === OPEN);
  const closed = all.filter(({ status }) => status === CLOSED);
  return {
    open: {
      count: open.length,
      totals: sumByCurrency(open),
      largest: open
        .toSorted((a, b) => b.amount - a.amount)
        .slice(0, LARGEST)
        .map((one) => toLargest(one, calendar)),
    },
    closed: {
      count: closed.length,
      totals: sumByCurrency(closed),
      avgDaysToClose: averageDaysToClose(closed, calendar),
    },
  };
};

/** Returns a dispute with the status that it had at a moment. */
export const asItStood = ({ dispute, status, closedAt }: Standing): Dispute => ({
  ...dispute,
  status: DISPUTE_STATUSES.indexOf(status) as Dispute["status"],
  closedDate: closedAt === null ? null : formatTimestamp(closedAt),
});

/** Reads the disputes of an account as they stood at a moment. */
export const readAccountDisputes = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
): Promise<{ figures: Fields; stopped: string | undefined; notes: string[] }> => {
  const all: Dispute[] = [];
  const args = { AccountNumber: accountNumber };
  const reopened = await readReopened(context, asOf);
  const { stopped } = await readDisputes(context, args, (page) => {
    for (const one of page) {
      const standing = standAt(one, asOf, reopened);
      if (standing !== undefined) all.push(asItStood(standing));
    }
  });
  return { figures: summarizeDisputes(all, context.calendar), stopped, notes: reopened.notes };
};
