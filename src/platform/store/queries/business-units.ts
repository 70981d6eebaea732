import type { Db } from "../port.ts";
import type { BusinessUnitRow } from "../tables/schema.ts";
import { createUpsert } from "../engine/bulk-writes.ts";

/** Lists a tenant's groupings by name. */
export const listBusinessUnits = (db: Db, tenantId: string): Promise<BusinessUnitRow[]> =>
  db
    .selectFrom("business_units")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .orderBy("display_name")
    .orderBy("id")
    .execute();

/** Inserts or replaces complete groupings; no two may have the same id. */
export const putBusinessUnits = createUpsert("business_units", ["tenant_id", "id"]);
