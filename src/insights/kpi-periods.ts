import { Problem } from "../contract/errors.ts";
import { type Calendar, formatDayNumber, parseDay } from "../contract/insights/calendar.ts";
import type { InsightContext } from "./insight.ts";

/** A span of the tenant's days, both included, whose measures stand together. */
export type KpiPeriod = {
  from: string;
  to: string;
  /** The number of its days. */
  days: number;
  /** Its first and last millisecond. */
  start: number;
  end: number;
};

const MONTHS_BY_DEFAULT = 3;
const MOST_MONTHS = 36;

/** Returns the first day of the month so many months after that of a day; before it, if negative. */
export const shiftMonth = (day: string, months: number): string => {
  const [year = 0, month = 1] = day.split("-").map(Number);
  const shifted = new Date(0);
  shifted.setUTCFullYear(year, month - 1 + months, 1);
  return shifted.toISOString().slice(0, day.length);
};

export const dayBefore = (day: string): string => formatDayNumber(parseDay(day) - 1);

const toPeriod = (calendar: Calendar, from: string, to: string): KpiPeriod => ({
  from,
  to,
  days: parseDay(to) - parseDay(from) + 1,
  start: calendar.startOf(from),
  end: calendar.endOf(to),
});

/** Divides days into calendar months, latest first and without end: the first has the given last day. */
export function* listMonthsBack(to: string): Generator<{ from: string; to: string }> {
  for (let last = to; ; last = dayBefore(shiftMonth(last, 0))) {
    yield { from: shiftMonth(last, 0), to: last };
  }
}

const divide = (calendar: Calendar, from: string, to: string): KpiPeriod[] => {
  const months: KpiPeriod[] = [];
  for (const month of listMonthsBack(to)) {
    if (months.length === MOST_MONTHS) {
      const message = `${from} to ${to} are more than ${MOST_MONTHS} months. Choose a later from, or leave month out of groupBy.`;
      throw new Problem("invalid_request", message);
    }
    months.unshift(toPeriod(calendar, month.from < from ? from : month.from, month.to));
    if (month.from <= from) return months;
  }
  return months;
};

/**
 * Returns the periods that the arguments mean: one, or one for each month. Days after today are left out, because no
 * balance is known of them.
 *
 * @throws {Problem} invalid_request
 */
export const choosePeriods = (
  { calendar, now }: Pick<InsightContext, "calendar" | "now">,
  args: { from?: string | undefined; to?: string | undefined; isMonthly: boolean },
): { from: string; to: string; periods: KpiPeriod[]; notes: string[] } => {
  const today = calendar.formatDay(now());
  const lastFull = dayBefore(shiftMonth(today, 0));
  const from = args.from === undefined ? undefined : calendar.toDay(args.from);
  const latest = from !== undefined && from > lastFull ? today : lastFull;
  const requested = args.to === undefined ? latest : calendar.toDay(args.to);
  const to = requested > today ? today : requested;
  const first = from ?? shiftMonth(to, 1 - MONTHS_BY_DEFAULT);
  if (first > to) {
    throw new Problem("invalid_request", `from ${first} must not be after to ${to}.`);
  }
  const periods = args.isMonthly ? divide(calendar, first, to) : [toPeriod(calendar, first, to)];
  const notes =
    requested > today ? [`${requested} has not come: the last day is today, ${today}.`] : [];
  return { from: first, to, periods, notes };
};

/** Returns the month of a period, which is the key of its measures. */
export const toMonthKey = ({ to }: KpiPeriod): string => to.slice(0, "2026-01".length);
