import { sql } from "kysely";
import { readStoredValues } from "../../src/platform/store/payments/columns.ts";
import type { Store } from "../../src/platform/store/port.ts";
import type { PaymentRow } from "../../src/platform/store/tables.ts";

export type StoredRow = Readonly<Record<string, unknown>>;

/** Reads all payment rows of a tenant, in the order of their numbers. */
export const readPayments = async (
  { read }: Pick<Store, "read">,
  tenantId: string,
): Promise<StoredRow[]> => {
  const { rows } = await sql<PaymentRow>`select * from cashapp_payments
    where tenant_id = ${tenantId} order by seq`.execute(read);
  return rows.map((row) => readStoredValues("cashapp", row));
};
