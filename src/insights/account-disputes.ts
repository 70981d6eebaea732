import type { Calendar } from "../contract/insights/calendar.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { sumByCurrency } from "./currency-totals.ts";
import { formatTenths } from "./decimal.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readDisputes } from "./read-disputes.ts";

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

/** Reads the disputes of an account. */
export const readAccountDisputes = async (
  context: InsightContext,
  accountNumber: string,
): Promise<{ figures: Fields; stopped: string | undefined }> => {
  const all: Dispute[] = [];
  const args = { AccountNumber: accountNumber };
  const { stopped } = await readDisputes(context, args, (page) => {
    for (const one of page) all.push(one);
  });
  return { figures: summarizeDisputes(all, context.calendar), stopped };
};
