import { formatDayNumber } from "../contract/insights/calendar.ts";
import { sumByCurrency } from "./currency-totals.ts";
import type { Fields, InsightContext } from "./insight.ts";
import type { Row } from "./payment-measures.ts";
import { readPayments } from "./read-payments.ts";
import { selectStanding } from "./standing-payments.ts";

const RECENT_DAYS = 90;
const SHORT_PAYMENTS = 5;

const FIELDS = [
  "paymentId",
  "paymentDate",
  "currencyCode",
  "paymentAmount",
  "documentNumber",
  "deductionAmount",
  "deductionReasonCode",
  "shortPay",
  "appliedAmount",
  "applicationStatus",
  "matchMethod",
];

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

const amountOf = ({ paymentAmount }: Row): number =>
  typeof paymentAmount === "number" ? paymentAmount : -Infinity;

/** Returns the date of a payment, which compares as text; empty for a payment without one. */
const dateOf = (row: Row | undefined): string => textOf(row?.["paymentDate"]) ?? "";

const isRecent = (row: Row, since: string): boolean => dateOf(row) >= since;

const paymentOf = (row: Row, place: number): unknown => row["paymentId"] ?? place;

/** Keeps one row of each payment and currency, that with the largest amount: a payment may have one per document. */
const perPayment = (rows: readonly Row[]): Row[] => {
  const largest = new Map<string, Row>();
  for (const [place, row] of rows.entries()) {
    const key = JSON.stringify([paymentOf(row, place), row["currencyCode"]]);
    const known = largest.get(key);
    if (known === undefined || amountOf(row) > amountOf(known)) largest.set(key, row);
  }
  return [...largest.values()];
};

const toMoney = (rows: readonly Row[], field: string) =>
  rows.map((row) => ({
    currencyCode: textOf(row["currencyCode"]),
    amount: numberOf(row[field]),
  }));

const findLast = (rows: readonly Row[]): Fields | null => {
  let last: Row | undefined;
  for (const row of rows) {
    if (dateOf(row) > dateOf(last)) last = row;
  }
  if (last === undefined) return null;
  const { paymentId, paymentDate, paymentAmount, currencyCode } = last;
  return { paymentId, paymentDate, paymentAmount, currencyCode };
};

const describeUndated = (rows: number): string[] =>
  rows === 0 ? [] : [`Payment rows left out because they have no paymentDate: ${rows}.`];

const summarizePayments = (rows: readonly Row[], since: string): Fields => {
  const recent = rows.filter((row) => isRecent(row, since));
  const short = selectStanding(recent).filter((row) => row["shortPay"] === true);
  return {
    since,
    count: new Set(recent.map(paymentOf)).size,
    totals: sumByCurrency(toMoney(perPayment(recent), "paymentAmount")),
    last: findLast(rows),
    shortPayments: {
      count: short.length,
      deductions: sumByCurrency(toMoney(short, "deductionAmount")),
      latest: short
        .toSorted((a, b) => (dateOf(a) < dateOf(b) ? 1 : -1))
        .slice(0, SHORT_PAYMENTS)
        .map(({ paymentDate, documentNumber, deductionAmount, deductionReasonCode }) => ({
          paymentDate,
          documentNumber,
          deductionAmount,
          deductionReasonCode,
        })),
    },
  };
};

/** Reads the cash application rows of accounts: the last 90 days, their last payment, and short payments. */
export const readAccountPayments = async (
  context: InsightContext,
  accountNumbers: readonly string[],
): Promise<{ figures: Fields; stopped: string | undefined; notes: string[] }> => {
  const rows: Row[] = [];
  const query = {
    source: "cashapp" as const,
    fields: FIELDS,
    filters: { accountNumber: { in: accountNumbers } },
  };
  // Only rows that can be shown are kept: those of the last 90 days, and the last one before.
  const { calendar, now } = context;
  const since = formatDayNumber(calendar.dayNumber(now()) - RECENT_DAYS);
  let lastBefore: Row | undefined;
  let undated = 0;
  const { stopped } = await readPayments(context, query, (page) => {
    for (const row of page) {
      if (isRecent(row, since)) rows.push(row);
      else if (dateOf(row) === "") undated += 1;
      else if (dateOf(row) > dateOf(lastBefore)) lastBefore = row;
    }
  });
  const all = lastBefore === undefined ? rows : [...rows, lastBefore];
  return { figures: summarizePayments(all, since), stopped, notes: describeUndated(undated) };
};
