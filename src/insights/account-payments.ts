import { formatDayNumber } from "../contract/insights/calendar.ts";
import { filterInTurns, forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import type { AccountFigures } from "./account-disputes.ts";
import { sumManyByCurrency } from "./currency-totals.ts";
import { addToList, selectItemsOf } from "./groups.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { numberOf, type Row, textOf } from "./payment-measures.ts";
import {
  countReceived,
  dateOf,
  findLastReceived,
  isReturn,
  sumReceived,
} from "./received-payments.ts";
import { readPayments } from "./read-payments.ts";
import type { Moment } from "./standing.ts";
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

const amountOf = ({ paymentAmount }: Row): number =>
  typeof paymentAmount === "number" ? paymentAmount : -Infinity;

const paymentOf = (row: Row, place: number): unknown => row["paymentId"] ?? place;

/**
 * Keeps one row of each payment and currency, that with the largest amount: a payment may have one per document. A row
 * that says that it was reversed counts only where the payment has no other.
 */
const perPayment = async (rows: readonly Row[]): Promise<Row[]> => {
  const largest = new Map<string, Row>();
  await forEachInTurns(rows.entries(), ([place, row]) => {
    const key = JSON.stringify([paymentOf(row, place), row["currencyCode"]]);
    const known = largest.get(key);
    const isBetter =
      known === undefined ||
      (isReturn(known) === isReturn(row) ? amountOf(row) > amountOf(known) : isReturn(known));
    if (isBetter) largest.set(key, row);
  });
  return [...largest.values()];
};

const sumField = async (rows: Iterable<Row>, field: string) =>
  sumManyByCurrency(
    await mapInTurns(rows, (row) => ({
      currencyCode: textOf(row["currencyCode"]),
      amount: numberOf(row[field]),
    })),
  );

/** Returns the short payments that stand; a return undoes rows of its own document. */
const selectShort = async (rows: readonly Row[]): Promise<Row[]> => {
  const byDocument = new Map<unknown, Row[]>();
  await forEachInTurns(rows, (row) => addToList(byDocument, row["documentNumber"], row));
  const standing = new Set<Row>();
  await forEachInTurns(byDocument.values(), (own) => {
    for (const row of selectStanding(own)) standing.add(row);
  });
  return filterInTurns(rows, (row) => row["shortPay"] === true && standing.has(row));
};

const showLast = (last: Row | undefined): Fields | null => {
  if (last === undefined) return null;
  const { paymentId, paymentDate, paymentAmount, currencyCode } = last;
  return { paymentId, paymentDate, paymentAmount, currencyCode };
};

const describeUndated = (rows: number): string[] =>
  rows === 0 ? [] : [`Payment rows left out because they have no paymentDate: ${rows}.`];

const summarizePayments = async (
  recent: readonly Row[],
  before: readonly Row[],
  since: string,
): Promise<Fields> => {
  const paid = await perPayment(recent);
  const { totals, returned } = await sumReceived(paid);
  const short = await selectShort(recent);
  const latest = await selectItemsOf(short, { limit: SHORT_PAYMENTS }, (a, b) =>
    dateOf(a) < dateOf(b) ? 1 : -1,
  );
  return {
    since,
    count: await countReceived(recent, paymentOf),
    totals,
    ...(returned.length === 0 ? {} : { returned }),
    last: showLast(await findLastReceived([...(await perPayment(before)), ...paid])),
    shortPayments: {
      count: short.length,
      deductions: await sumField(short, "deductionAmount"),
      latest: latest.map(
        ({ paymentDate, documentNumber, deductionAmount, deductionReasonCode }) => ({
          paymentDate,
          documentNumber,
          deductionAmount,
          deductionReasonCode,
        }),
      ),
    },
  };
};

/** The payments before the last 90 days of which the last one is shown that did not come back. */
const MOST_BEFORE = 10;

/** Keeps the latest rows that were received. */
const createLatest = () => {
  const rows: Row[] = [];
  return {
    rows,
    add(row: Row): void {
      if (isReturn(row) || dateOf(row) <= dateOf(rows[MOST_BEFORE - 1])) return;
      const place = rows.findIndex((one) => dateOf(row) > dateOf(one));
      rows.splice(place === -1 ? rows.length : place, 0, row);
      rows.splice(MOST_BEFORE);
    },
  };
};

/** Reads the cash application rows of accounts: the last 90 days, their last payment, and short payments. */
export const readAccountPayments = async (
  context: InsightContext,
  accountNumbers: readonly string[],
  { at, isPast }: Moment,
): Promise<AccountFigures> => {
  const rows: Row[] = [];
  const query = {
    source: "cashapp" as const,
    fields: FIELDS,
    filters: { accountNumber: { in: accountNumbers } },
  };
  // Only rows that can be shown are kept: those of the last 90 days, and the last ones before.
  const { calendar } = context;
  const since = formatDayNumber(calendar.dayNumber(at) - RECENT_DAYS);
  const until = calendar.formatDay(at);
  const before = createLatest();
  let undated = 0;
  const { stopped } = await readPayments(context, query, (page) =>
    forEachInTurns(page, (row) => {
      if (isPast && dateOf(row) > until) return;
      if (dateOf(row) >= since) rows.push(row);
      else if (dateOf(row) === "") undated += 1;
      else before.add(row);
    }),
  );
  const figures = await summarizePayments(rows, before.rows, since);
  return { figures, stopped, notes: describeUndated(undated) };
};
