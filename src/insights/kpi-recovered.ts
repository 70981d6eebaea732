import Big from "big.js";
import { contract } from "../contract/index.ts";
import { MAX_LIST_ITEMS } from "../contract/payments/filter.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { addToList } from "./groups.ts";
import type { InsightContext } from "./insight.ts";
import type { PeriodDisputes, Rejected } from "./kpi-disputes.ts";
import { type Row, textOf } from "./payment-measures.ts";
import { attemptPart } from "./read-part.ts";
import { readPayments } from "./read-payments.ts";
import { selectStanding } from "./standing-payments.ts";

const FIELDS = [
  "documentNumber",
  "currencyCode",
  "appliedAmount",
  "applicationStatus",
  "matchMethod",
  "paymentDate",
  "depositDate",
];
const DOCUMENTS_PER_TURN = 100;
const ZERO = new Big(0);

/** Payments since the disputes of groups were closed as not valid; a text is the reason why they are unknown. */
export type Recovered = ReadonlyMap<PeriodDisputes, Big> | string;

type Payment = { day: string; currencyCode: string | null; left: Big };

/** The payments of a document that stand, oldest first. */
const toPayments = (rows: readonly Row[]): Payment[] =>
  selectStanding(rows)
    .flatMap(({ appliedAmount, currencyCode, ...row }): Payment[] => {
      const day = textOf(row["paymentDate"]) ?? textOf(row["depositDate"]);
      if (day === null || typeof appliedAmount !== "number" || appliedAmount <= 0) return [];
      return [{ day, currencyCode: textOf(currencyCode), left: new Big(appliedAmount) }];
    })
    .toSorted((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)));

/** Takes at most an amount from payments from a day on, and returns what it took. */
const takeFrom = (
  payments: readonly Payment[],
  { amount, currencyCode }: Rejected,
  closedOn: string,
): Big => {
  let open = new Big(amount);
  for (const payment of payments) {
    const isOther = payment.currencyCode !== null && payment.currencyCode !== currencyCode;
    if (isOther || payment.day < closedOn) continue;
    const part = payment.left.lt(open) ? payment.left : open;
    payment.left = payment.left.minus(part);
    open = open.minus(part);
  }
  return new Big(amount).minus(open);
};

const readRows = async (context: InsightContext, numbers: readonly string[]) => {
  const rows = new Map<string, Row[]>();
  const take = (page: readonly Row[]): Promise<void> =>
    forEachInTurns(page, (row) => addToList(rows, textOf(row["documentNumber"]) ?? "", row));
  for (let from = 0; from < numbers.length; from += MAX_LIST_ITEMS) {
    const documentNumber = { in: numbers.slice(from, from + MAX_LIST_ITEMS) };
    const query = { source: "cashapp", fields: FIELDS, filters: { documentNumber } } as const;
    const { stopped } = await readPayments(context, query, take);
    if (stopped !== undefined) return { rows, stopped };
  }
  return { rows, stopped: undefined };
};

const compareClosings = (a: Rejected, b: Rejected): number =>
  a.closedAt === b.closedAt ? (a.disputeId < b.disputeId ? -1 : 1) : a.closedAt - b.closedAt;

/** Returns what was paid of each dispute, by its id. */
const divide = async (
  { calendar }: InsightContext,
  byDocument: ReadonlyMap<string, readonly Rejected[]>,
  rows: ReadonlyMap<string, readonly Row[]>,
): Promise<ReadonlyMap<string, Big>> => {
  const paid = new Map<string, Big>();
  await forEachInTurns(
    byDocument,
    ([number, own]) => {
      const payments = toPayments(rows.get(number) ?? []);
      for (const one of own.toSorted(compareClosings)) {
        paid.set(one.disputeId, takeFrom(payments, one, calendar.formatDay(one.closedAt)));
      }
    },
    DOCUMENTS_PER_TURN,
  );
  return paid;
};

/**
 * Finds what was paid on documents since disputes of these groups were closed as not valid: at most the amount of each
 * dispute. A payment counts once, for the dispute that was closed first.
 */
export const readRecovered = async (
  context: InsightContext,
  groups: readonly PeriodDisputes[],
): Promise<Recovered> => {
  const byDocument = new Map<string, Rejected[]>();
  for (const { rejected } of groups) {
    await forEachInTurns(rejected, (one) => addToList(byDocument, one.documentNumber, one));
  }
  const read = () => readRows(context, [...byDocument.keys()]);
  const part = await attemptPart(context, contract.payments.query, read);
  if (part.refused !== undefined) return part.refused.reason;
  const { rows, stopped } = part.value;
  if (stopped !== undefined) return stopped;
  const paid = await divide(context, byDocument, rows);
  const recovered = new Map<PeriodDisputes, Big>();
  for (const group of groups) {
    let sum = ZERO;
    await forEachInTurns(group.rejected, ({ disputeId }) => {
      sum = sum.plus(paid.get(disputeId) ?? ZERO);
    });
    recovered.set(group, sum);
  }
  return recovered;
};
