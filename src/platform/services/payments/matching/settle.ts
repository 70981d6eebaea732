import type { NewPayment } from "../../../store/queries/payments.ts";
import { findDocuments, findDocumentsByKeys } from "../../../store/queries/documents.ts";
import type { Db } from "../../../store/port.ts";
import type { DocumentRow } from "../../../store/tables/schema.ts";
import { restoreDeductions, settleDeductions } from "./deductions.ts";
import { listDocumentKeys, type Paper, readLedger } from "./ledger.ts";
import { isReturn } from "./lines.ts";
import { linkReturn, linkWaitingReturns } from "./link.ts";
import { matchWaitingFor, rematchPayments } from "./rematch.ts";
import { applyReturns, type Settling } from "./returns.ts";
import { textsOf } from "./values.ts";
import { readMatchedSince } from "../../../store/queries/payment-matching.ts";
import { readTenant } from "../../../store/queries/tenants.ts";

const isOverpaid = ({ original, paid }: Paper): boolean =>
  original !== undefined && paid.gt(original);

/**
 * Matches payments again that were applied to documents since a time, where more is paid of these than their totals:
 * an earlier payment was put back.
 */
const rematchOverpaid = async (
  tx: Db,
  settling: Settling,
  { numbers, since }: { numbers: readonly string[]; since: string },
): Promise<void> => {
  const { tenantId } = settling;
  if (numbers.length === 0) return;
  const { currency } = await readTenant(tx, tenantId);
  const ledger = await readLedger(tx, { tenantId, currency, exceptPaymentIds: [] }, numbers);
  const overpaid = numbers.filter((number) =>
    ledger.find(number).some((paper) => paper.number === number && isOverpaid(paper)),
  );
  const rows = await readMatchedSince(tx, tenantId, overpaid, since);
  await rematchPayments(tx, settling, textsOf(rows, "paymentId"));
};

/** Matches the payments that wait for documents of which something is open again. */
const matchReopened = async (tx: Db, settling: Settling, numbers: readonly string[]) => {
  if (numbers.length === 0) return;
  await settleDeductions(tx, settling, [...new Set(numbers)]);
  await restoreDeductions(tx, settling, [...new Set(numbers)]);
  const found = await findDocuments(tx, settling.tenantId, [...new Set(numbers)]);
  await matchWaitingFor(tx, settling, found.flatMap(listDocumentKeys));
};

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
  await settleDeductions(tx, settling, textsOf(payments, "documentNumber"));
  await matchReopened(tx, settling, [...reopened]);
};

/** Finds the payments of returns that wait for one, as far as these have come. */
export const settleWaitingReturns = async (tx: Db, settling: Settling): Promise<void> =>
  matchReopened(tx, settling, await linkWaitingReturns(tx, settling));

/**
 * Has a return take back what its payment paid, where it became known which one that is. A payment that it was of before
 * pays its documents again, and those that took its place are matched again.
 */
export const settleReturn = async (
  tx: Db,
  settling: Settling,
  link: { returnPaymentId: string; paymentId: string },
): Promise<void> => {
  const { documents, former, since } = await linkReturn(tx, settling, link);
  if (former.length > 0) {
    await rematchOverpaid(tx, settling, { numbers: documents, since });
    await rematchPayments(tx, settling, former);
  }
  await matchReopened(tx, settling, documents);
};

/** Takes computed deductions back that documents explain: those of changed ones, and of invoices with new credit notes. */
export const settleDocuments = async (
  tx: Db,
  settling: Settling,
  rows: readonly DocumentRow[],
): Promise<void> => {
  const keys = rows.flatMap(({ applies_to_key: key }) => key ?? []);
  const reduced = await findDocumentsByKeys(tx, settling.tenantId, { keys, numbers: [] });
  const numbers = [...rows, ...reduced].map(({ document_number: number }) => number);
  await settleDeductions(tx, settling, [...new Set(numbers)]);
};

/** Rows of payments that were removed or put back, by their documents and the payments that they are of or return. */
export type Restored = {
  documents: readonly string[];
  paymentIds: readonly string[];
  /** Payments that were applied since then may have taken the place of one that was put back. */
  since: string;
};

/** Completes what the removal or return of stored rows changes beyond them: returns, deductions and matches. */
export const settleRestored = async (
  tx: Db,
  settling: Settling,
  { documents, paymentIds, since }: Restored,
): Promise<void> => {
  const returns = await applyReturns(tx, settling, [...new Set(paymentIds)]);
  const numbers = [...new Set([...documents, ...returns.documents])];
  await rematchOverpaid(tx, settling, { numbers, since });
  // A payment that was returned could not take documents that came meanwhile.
  await rematchPayments(tx, settling, [...new Set(paymentIds)]);
  await matchReopened(tx, settling, numbers);
};
