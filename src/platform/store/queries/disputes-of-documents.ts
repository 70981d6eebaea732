import { sql } from "kysely";
import { moveTotal } from "./dispute-totals.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { findResolutionForClosedInvoices } from "./resolutions.ts";

/**
 * Closes the open disputes on documents that close, with the resolution that the tenant has chosen for it, if any.
 */
export const closeDisputesOn = async (
  tx: Db,
  { tenantId, caller, now }: { tenantId: string; caller: { id: string }; now: number },
  documentNumbers: readonly string[],
): Promise<void> => {
  const resolution = await findResolutionForClosedInvoices(tx, tenantId);
  if (resolution === undefined || resolution.active === 0) return;
  const result = await tx
    .updateTable("disputes")
    .set({
      status: 1,
      closed_at: now,
      resolution_id: resolution.id,
      is_valid: resolution.is_valid,
      updated_by: caller.id,
      updated_at: now,
      version: sql`version + 1`,
    })
    .where("tenant_id", "=", tenantId)
    .where("status", "=", 0)
    .where(getDialect(tx).isAmongKeys("document_number", documentNumbers))
    .executeTakeFirst();
  await moveTotal(tx, tenantId, [0, 1], Number(result.numUpdatedRows));
};
