import { Problem } from "../../contract/errors.ts";
import { absent } from "../services/records.ts";
import type { Db } from "../store/port.ts";
import { findTenant } from "../store/tenants.ts";

/** Who an administrative command acts as in the records it changes. */
export const OPERATOR = { id: "admin" };

export const checkTenant = async (db: Db, tenantId: string): Promise<void> => {
  if ((await findTenant(db, tenantId)) !== undefined) return;
  throw new Problem("not_found", absent("tenant", "id", tenantId));
};
