import { setImmediate } from "node:timers/promises";
import { formatTimestamp } from "../../kit/clock.ts";
import { describeMatched } from "../services/payments/matching/audit.ts";
import { rematchPayments } from "../services/payments/matching/rematch.ts";
import { settleWaitingReturns } from "../services/payments/matching/settle.ts";
import { findUnapplied } from "../store/queries/payment-matching.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

/** Rows that are read for one transaction, so that other writers get their turn. */
const ROWS_PER_STEP = 100;

type Counts = {
  /** Payments with money that no document took. */
  checked: number;
  /** Those of them that were applied to documents. */
  matched: number;
  /** Those of them whose suggestion or open amounts changed. */
  changed: number;
};

/** Matches all payments of a tenant that have unapplied money. */
export const matchPayments = async (
  { store, clock, record }: Pick<AdminNeeds, "store" | "clock" | "record">,
  tenantId: string,
): Promise<{ tenantId: string } & Counts> => {
  await checkTenantExists(store.read, tenantId);
  const counts: Counts = { checked: 0, matched: 0, changed: 0 };
  await store.transaction(
    (tx) => settleWaitingReturns(tx, { tenantId, now: formatTimestamp(clock()) }),
    tenantId,
  );
  let after: number | undefined = 0;
  let last: string | undefined;
  while (after !== undefined) {
    const from: number = after;
    const former: string | undefined = last;
    const rows = await store.transaction(async (tx) => {
      const found = await findUnapplied(tx, tenantId, { after: from, most: ROWS_PER_STEP });
      // A payment whose rows two steps read is matched by the first.
      const ids = new Set(found.map((row) => row.payment_id).filter((id) => id !== former));
      const settling = { tenantId, now: formatTimestamp(clock()) };
      const { applied, changed } = await rematchPayments(tx, settling, [...ids]);
      counts.checked += ids.size;
      counts.matched += applied.length;
      counts.changed += changed.length;
      if (applied.length > 0) {
        const metadata = describeMatched(applied);
        await record?.(tx, { tenantId, action: "admin.payments_matched", metadata });
      }
      return found;
    }, tenantId);
    last = rows.at(-1)?.payment_id;
    after = rows.length < ROWS_PER_STEP ? undefined : rows.at(-1)?.seq;
    await setImmediate();
  }
  return { tenantId, ...counts };
};
