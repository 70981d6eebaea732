import { insertAll } from "../engine/bulk-writes.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import type { DocumentBalanceRow } from "../tables/schema.ts";
import { rowsOfTenant } from "../engine/rows.ts";

/** Adds balances to the history of documents. */
export const addBalances = (tx: Db, rows: readonly DocumentBalanceRow[]): Promise<void> =>
  insertAll(tx, "document_balances", rows);

/** Removes the history of a document; with a version, only the balance of that one. */
export const removeBalances = async (
  tx: Db,
  {
    tenant_id: tenantId,
    document_number: number,
  }: Pick<DocumentBalanceRow, "tenant_id" | "document_number">,
  version?: number,
): Promise<void> => {
  const own = tx
    .deleteFrom("document_balances")
    .where("tenant_id", "=", tenantId)
    .where("document_number", "=", number);
  await (version === undefined ? own : own.where("version", "=", version)).execute();
};

/** Lists the balances in the histories of documents, oldest first. */
export const listBalancesOf = (db: Db, tenantId: string, numbers: readonly string[]) =>
  rowsOfTenant(db, "document_balances", tenantId)
    .where(getDialect(db).isAmongKeys("document_number", numbers))
    .orderBy("version")
    .execute();
