import type { NewPayment } from "../../../store/payments.ts";
import { replacePayments } from "../../../store/payments.ts";
import { readDeductions, readReturnsOf } from "../../../store/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { openOf, readLedger } from "./ledger.ts";
import type { Settling } from "./returns.ts";
import { readTenant } from "../../../store/tenants.ts";
import { amountOf, atLeastZero, smallest, sum, textOf, type Values } from "./values.ts";

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
  const rows = (await readDeductions(tx, tenantId, numbers)).filter(
    ({ values }) => values["applicationStatus"] !== "reversed",
  );
  // The return of a payment has taken its deduction back already.
  const ids = rows.filter(isComputed).flatMap(({ values }) => textOf(values, "paymentId") ?? []);
  const returns = await readReturnsOf(tx, tenantId, ids);
  const returned = new Set(returns.map(({ values }) => values["returnedPaymentId"]));
  const computed = rows.filter((row) => isComputed(row) && !returned.has(row.values["paymentId"]));
  if (computed.length === 0) return;
  const { currency } = await readTenant(tx, tenantId);
  const named = [
    ...new Set(computed.flatMap(({ values }) => textOf(values, "documentNumber") ?? [])),
  ];
  const ledger = await readLedger(tx, { tenantId, currency, exceptPaymentIds: [] }, named);
  const changed: NewPayment[] = [];
  for (const number of named) {
    const paper = ledger.find(number).find((one) => one.number === number);
    const open = paper === undefined ? undefined : openOf(paper);
    if (open === undefined) continue;
    const isOf = ({ values }: NewPayment) => values["documentNumber"] === number;
    const said = rows.filter(
      (row) => isOf(row) && !isComputed(row) && !returned.has(row.values["paymentId"]),
    );
    let left = atLeastZero(
      open.minus(sum(said.map(({ values }) => amountOf(values, "deductionAmount")))),
    );
    for (const row of computed.filter(isOf).toSorted(byTime)) {
      const before = amountOf(row.values, "deductionAmount");
      const kept = smallest(before, left);
      left = left.minus(kept);
      if (!kept.eq(before)) changed.push(withDeduction(row, kept.toNumber(), settling));
    }
  }
  await replacePayments(tx, "cashapp", changed);
};
