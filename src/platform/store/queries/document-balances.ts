import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { removeRows, rowsOfTenant } from "../engine/rows.ts";
import type { DocumentBalanceRow, DocumentRow } from "../tables/schema.ts";

/** Removes the history of a document; with a version, only the balance of that one. */
export const removeBalances = (
  tx: Db,
  { tenant_id, document_number }: Pick<DocumentBalanceRow, "tenant_id" | "document_number">,
  only: Partial<Pick<DocumentBalanceRow, "version">> = {},
) => removeRows(tx, "document_balances", { tenant_id, document_number, ...only });

/** Lists the balances in the histories of documents, oldest first. */
export const listBalancesOf = (db: Db, tenantId: string, numbers: readonly string[]) =>
  rowsOfTenant(db, "document_balances", tenantId)
    .where(getDialect(db).isAmongKeys("document_number", numbers))
    .orderBy("version")
    .execute();

/** Lists the present balances of open documents without a history, which hold since their last change. */
export const listUnrecordedOf = async (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<DocumentBalanceRow[]> => {
  const rows = await rowsOfTenant(db, "documents", tenantId)
    .where(getDialect(db).isAmongKeys("document_number", numbers))
    .where("balance_recorded_at", "is", null)
    .where("status", "=", "open")
    .execute();
  return rows.map(toUnrecorded);
};

/** Returns the balance with which the history of an open document of an earlier version begins. */
export const toUnrecorded = (row: DocumentRow): DocumentBalanceRow => ({
  tenant_id: row.tenant_id,
  document_number: row.document_number,
  version: row.version,
  recorded_at: row.updated_at,
  status: row.status,
  balance: row.balance,
  currency: row.balance_currency,
  cause: "changed",
});
