import type { NewEntry } from "../../../store/audit/entries.ts";

/** Ids that an entry names; of more payments it has the number. */
const MOST_NAMED = 20;

/** Returns the metadata of the audit entry of payments that were matched again. */
export const describeMatched = (paymentIds: readonly string[]): NewEntry["metadata"] => ({
  payments: paymentIds.length,
  paymentIds: paymentIds.slice(0, MOST_NAMED).join(" "),
});

type Made = {
  tenantId: string;
  id: string;
  at: number;
  /** `JOB` or `CLI`. */
  method: string;
  actor: string;
  paymentIds: readonly string[];
};

/** Returns the audit entry of payments that were matched because their documents came. */
export const createMatchEntry = ({
  tenantId,
  id,
  at,
  method,
  actor,
  paymentIds,
}: Made): NewEntry => ({
  tenantId,
  id,
  at,
  method,
  endpoint: "payments",
  action: "payments.matched",
  statusCode: 200,
  metadata: { ...describeMatched(paymentIds), actor },
});
