import type { NewPayment } from "../../store/queries/payments.ts";
import type { Db } from "../../store/port.ts";
import { matchRows } from "../../services/payments/matching/match.ts";

/**
 * Matches rows with the documents that they name, before they are stored. The rows of a payment must be complete and in
 * order. Call `settlePayments` after they are stored.
 */
export const matchDocuments = (
  tx: Db,
  tenantId: string,
  rows: readonly NewPayment[],
): Promise<NewPayment[]> => matchRows(tx, tenantId, rows, { isStored: false });
