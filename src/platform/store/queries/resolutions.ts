import { createCodedTable, isReferenced } from "./coded-table.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import type { ResolutionRow } from "../tables/schema.ts";
import { rowsOfTenant } from "../engine/rows.ts";

export const {
  find: findResolution,
  findByCode: findResolutionByCode,
  select: selectResolutions,
  insert: insertResolution,
  update: updateResolution,
  remove: removeResolution,
} = createCodedTable("resolutions", (row) => ({ ...row, code_folded: fold(row.code) }));

/** Finds the resolution of disputes that close with their document, where the tenant has chosen one. */
export const findResolutionForClosedInvoices = (db: Db, tenantId: string) =>
  rowsOfTenant(db, "resolutions", tenantId)
    .where("apply_when_invoice_closed", "=", 1)
    .executeTakeFirst();

export const isResolutionUsed = (db: Db, row: ResolutionRow): Promise<boolean> =>
  isReferenced(db, row, "disputes", "resolution_id");
