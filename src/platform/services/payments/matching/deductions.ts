import type Big from "big.js";
import type { NewPayment } from "../../../store/queries/payments.ts";
import { replacePayments } from "../../../store/queries/payments.ts";
import {
  readAppliedRows,
  readDeductions,
  readReturnsOf,
} from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { isFinal, openOf, readLedger } from "./ledger.ts";
import type { Settling } from "./returns.ts";
import { readTenant } from "../../../store/queries/tenants.ts";
import { amountOf, atLeastZero, smallest, sum, textOf, textsOf, type Values } from "./values.ts";

const isComputed = ({ matching }: NewPayment): boolean =>
  matching !== undefined && (JSON.parse(matching.said) as Values)["deductionAmount"] === undefined;

const byTime = (a: NewPayment, b: NewPayment): number => {
  const [one, other] = [a.matching?.appliedAt ?? "", b.matching?.appliedAt ?? ""];
  return one === other ? b.seq - a.seq : one < other ? 1 : -1;
};

const withDeduction = (row: NewPayment, amount: number, { now }: Settling): NewPayment => {
  const { deductionAmount: _former, ...values } = row.values;
  return {
    ...row,
    values: {
      ...values,
      ...(amount > 0 ? { deductionAmount: amount } : {}),
      shortPay: amount > 0,
      updatedAt: now,
    },
  };
};

/** Leaves out the rows of payments that were returned: these take back what the rows say. */
const withoutReturned = async (tx: Db, tenantId: string, rows: readonly NewPayment[]) => {
  const own = rows.filter(({ values }) => values["applicationStatus"] !== "reversed");
  const returns = await readReturnsOf(tx, tenantId, textsOf(own, "paymentId"));
  const returned = new Set(returns.map(({ values }) => values["returnedPaymentId"]));
  return own.filter(({ values }) => !returned.has(values["paymentId"]));
};

const readOpen = async (tx: Db, tenantId: string, numbers: readonly string[]) => {
  const { currency } = await readTenant(tx, tenantId);
  const ledger = await readLedger(tx, { tenantId, currency, exceptPaymentIds: [] }, numbers);
  return (number: string): Big | undefined => {
    const paper = ledger.find(number).find((one) => one.number === number);
    return paper === undefined ? undefined : openOf(paper);
  };
};

const sumOf = (rows: readonly NewPayment[], name: string): Big =>
  sum(rows.map(({ values }) => amountOf(values, name)));

/** Groups rows by the document that they are applied to. */
const groupByDocument = (rows: readonly NewPayment[]): Map<string, NewPayment[]> =>
  Map.groupBy(rows, ({ values }) => textOf(values, "documentNumber") ?? "");

/**
 * Takes back deductions that were computed, as far as later payments paid what had been left short: the latest ones
 * stay.
 */
export const settleDeductions = async (
  tx: Db,
  settling: Settling,
  numbers: readonly string[],
): Promise<void> => {
  const { tenantId } = settling;
  const all = await readDeductions(tx, tenantId, numbers);
  if (!all.some(isComputed)) return;
  const byDocument = groupByDocument(await withoutReturned(tx, tenantId, all));
  const findOpen = await readOpen(tx, tenantId, [...byDocument.keys()]);
  const changed: NewPayment[] = [];
  for (const [number, rows] of byDocument) {
    const open = findOpen(number);
    if (open === undefined) continue;
    const stated = rows.filter((row) => !isComputed(row));
    let left = atLeastZero(open.minus(sumOf(stated, "deductionAmount")));
    for (const row of rows.filter(isComputed).toSorted(byTime)) {
      const before = amountOf(row.values, "deductionAmount");
      const reduced = smallest(before, left);
      left = left.minus(reduced);
      if (!reduced.eq(before)) changed.push(withDeduction(row, reduced.toNumber(), settling));
    }
  }
  await replacePayments(tx, "cashapp", changed);
};

/**
 * Computes deductions again of documents that are open again: the payment that is the last one now may have been final,
 * and its deduction was taken back when the payment that is gone paid it.
 */
export const restoreDeductions = async (
  tx: Db,
  settling: Settling,
  numbers: readonly string[],
): Promise<void> => {
  const { tenantId } = settling;
  const all = await readAppliedRows(tx, tenantId, numbers);
  const byDocument = groupByDocument(await withoutReturned(tx, tenantId, all));
  const findOpen = await readOpen(tx, tenantId, [...byDocument.keys()]);
  const changed: NewPayment[] = [];
  for (const [number, rows] of byDocument) {
    const [last] = rows
      .filter(({ values }) => amountOf(values, "appliedAmount").gt(0))
      .toSorted(byTime);
    const open = findOpen(number);
    if (last === undefined || open === undefined) continue;
    const same = rows.filter(({ values }) => values["paymentId"] === last.values["paymentId"]);
    if (same.some(({ values }) => amountOf(values, "deductionAmount").gt(0))) continue;
    const left = open.minus(sumOf(rows, "deductionAmount"));
    if (left.lte(0) || !isFinal(sumOf(same, "appliedAmount"), open)) continue;
    changed.push(withDeduction(last, left.toNumber(), settling));
  }
  await replacePayments(tx, "cashapp", changed);
};
