import type { NewEntry } from "../../../store/audit/entries.ts";

/** Ids that an entry names; of more payments it has the number. */
const MOST_NAMED = 20;

/** Returns the metadata of the audit entry of payments that were matched again. */
export const describeMatched = (paymentIds: readonly string[]): NewEntry["metadata"] => ({
  payments: paymentIds.length,
  paymentIds: paymentIds.slice(0, MOST_NAMED).join(" "),
});

/** `method`: `JOB` or `CLI`. */
type Made = Pick<NewEntry, "tenantId" | "id" | "at" | "method"> & {
  actor: string;
  paymentIds: readonly string[];
};

/** Returns the audit entry of payments that were matched because their documents came. */
export const createMatchEntry = ({ actor, paymentIds, ...made }: Made): NewEntry => ({
  ...made,
  endpoint: "payments",
  action: "payments.matched",
  statusCode: 200,
  metadata: { ...describeMatched(paymentIds), actor },
});
