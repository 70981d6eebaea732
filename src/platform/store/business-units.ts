import type { Db } from "./port.ts";
import type { BusinessUnitRow } from "./tables.ts";
import { createBulkUpsert } from "./bulk-writes.ts";

/** A tenant's groupings, in the order of their names. */
export const listBusinessUnits = (db: Db, tenantId: string): Promise<BusinessUnitRow[]> =>
  db
    .selectFrom("business_units")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .orderBy("display_name")
    .orderBy("id")
    .execute();

/** Writes whole groupings, new ones and known ones alike; no two of the same id. */
export const putBusinessUnits = createBulkUpsert("business_units", {
  tenant_id: "key",
  id: "key",
  display_name: "value",
  value_list: "value",
});
