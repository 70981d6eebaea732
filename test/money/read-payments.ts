import { sql } from "kysely";
import type { Source } from "../../src/contract/payments/catalogue.ts";
import { readStoredValues, TABLES } from "../../src/platform/store/queries/payments/columns.ts";
import type { Store } from "../../src/platform/store/port.ts";
import type { PaymentRow } from "../../src/platform/store/tables/schema.ts";

export type StoredRow = Readonly<Record<string, unknown>>;

/** Reads all payment rows of a tenant in a source, in the order of their numbers. */
export const readPayments = async (
  { read }: Pick<Store, "read">,
  tenantId: string,
  source: Source,
): Promise<StoredRow[]> => {
  const { rows } = await sql<PaymentRow>`select * from ${sql.table(TABLES[source])}
    where tenant_id = ${tenantId} order by seq`.execute(read);
  return rows.map((row) => readStoredValues(source, row));
};
