import { DISPUTE_STATUSES } from "../contract/insights/dispute-filters.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { filterInTurns, forEachInTurns } from "../kit/in-turns.ts";
import { sumManyByCurrency } from "./currency-totals.ts";
import { formatTenths } from "./decimal.ts";
import { selectItemsOf } from "./groups.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readReopened } from "./matching-disputes.ts";
import { readDisputes } from "./read-disputes.ts";
import { type Moment, standAt, type Standing } from "./standing.ts";

/** The figures of one part of an account, with what limits them. */
export type AccountFigures = {
  figures: Fields;
  /** Why not all was read. */
  stopped: string | undefined;
  notes: readonly string[];
};

const LARGEST = 5;
const OPEN = 0;
const CLOSED = 1;

const averageDaysToClose = async (
  closed: readonly Dispute[],
  { daysBetween }: Calendar,
): Promise<number | null> => {
  let [days, count] = [0, 0];
  await forEachInTurns(closed, ({ createDate, closedDate }) => {
    if (closedDate === null) return;
    days += daysBetween(Date.parse(createDate), Date.parse(closedDate));
    count += 1;
  });
  return formatTenths(days, count);
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
export const summarizeDisputes = async (all: readonly Dispute[], calendar: Calendar) => {
  const open = await filterInTurns(all, ({ status }) => status === OPEN);
  const closed = await filterInTurns(all, ({ status }) => status === CLOSED);
  const largest = await selectItemsOf(open, { limit: LARGEST }, (a, b) => b.amount - a.amount);
  return {
    open: {
      count: open.length,
      totals: await sumManyByCurrency(open),
      largest: largest.map((one) => toLargest(one, calendar)),
    },
    closed: {
      count: closed.length,
      totals: await sumManyByCurrency(closed),
      avgDaysToClose: await averageDaysToClose(closed, calendar),
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
): Promise<AccountFigures> => {
  const all: Dispute[] = [];
  const args = { AccountNumber: accountNumber };
  const reopened = await readReopened(context, asOf);
  const { stopped } = await readDisputes(context, args, (page) =>
    forEachInTurns(page, (one) => {
      const standing = standAt(one, asOf, reopened);
      if (standing !== undefined) all.push(asItStood(standing));
    }),
  );
  const figures = await summarizeDisputes(all, context.calendar);
  return { figures, stopped, notes: reopened.notes };
};
