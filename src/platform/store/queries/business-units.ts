import type { Db } from "../port.ts";
import { createUpsert } from "../engine/bulk-writes.ts";
import { rowsOfTenant } from "../engine/rows.ts";

/** Lists a tenant's groupings by name. */
export const listBusinessUnits = (db: Db, tenantId: string) =>
  rowsOfTenant(db, "business_units", tenantId).orderBy("display_name").orderBy("id").execute();

/** Inserts or replaces complete groupings; no two may have the same id. */
export const putBusinessUnits = createUpsert("business_units", ["tenant_id", "id"]);
