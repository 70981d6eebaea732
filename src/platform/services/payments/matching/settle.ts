import type { NewPayment } from "../../../store/payments.ts";
import { findDocuments } from "../../../store/documents.ts";
import type { Db } from "../../../store/port.ts";
import { settleDeductions } from "./deductions.ts";
import { listDocumentKeys } from "./ledger.ts";
import { isReturn } from "./lines.ts";
import { linkWaitingReturns } from "./link.ts";
import { matchWaitingFor } from "./rematch.ts";
import { applyReturns, type Settling } from "./returns.ts";
import { textOf } from "./values.ts";

const textsOf = (rows: readonly NewPayment[], name: string): string[] => [
  ...new Set(rows.flatMap(({ values }) => textOf(values, name) ?? [])),
];

/**
 * Completes what payments change beyond their own rows, after `matchDocuments` and after they are stored: returns take
 * back what their payments paid, also those that came first; deductions that later payments paid are taken back; and
 * payments that wait for documents that are open again are matched. `rows` are all rows of the payments.
 */
export const settlePayments = async (
  tx: Db,
  settling: Settling,
  rows: readonly NewPayment[],
): Promise<void> => {
  if (rows.length === 0) return;
  const payments = rows.filter(({ values }) => !isReturn(values));
  const returned = [...textsOf(payments, "paymentId"), ...textsOf(rows, "returnedPaymentId")];
  const { documents } = await applyReturns(tx, settling, [...new Set(returned)]);
  const reopened = new Set([...documents, ...(await linkWaitingReturns(tx, settling))]);
  const touched = [...new Set([...textsOf(payments, "documentNumber"), ...reopened])];
  await settleDeductions(tx, settling, touched);
  if (reopened.size === 0) return;
  const found = await findDocuments(tx, settling.tenantId, [...reopened]);
  await matchWaitingFor(tx, settling, found.flatMap(listDocumentKeys));
};
