import { readMatchedSince } from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { readTenant } from "../../../store/queries/tenants.ts";
import { type Paper, readLedger } from "./ledger.ts";
import { rematchPayments } from "./rematch.ts";
import type { Settling } from "./returns.ts";
import { textOf } from "./values.ts";

const isOverpaid = ({ original, paid }: Paper): boolean =>
  original !== undefined && paid.gt(original);

/**
 * Matches payments again that were applied to documents since a time, where more is paid of these than their totals:
 * an earlier payment was put back.
 */
export const rematchOverpaid = async (
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
  const ids = new Set(rows.flatMap(({ values }) => textOf(values, "paymentId") ?? []));
  await rematchPayments(tx, settling, [...ids]);
};
