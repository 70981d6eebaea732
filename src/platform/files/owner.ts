import type { Db } from "../store/port.ts";
import { readTenant } from "../store/queries/tenants.ts";

/** Returns those of the keys that name files of the tenant. Background work reads and removes no other ones. */
export const selectOwnFiles = async (
  db: Db,
  tenantId: string,
  keys: readonly string[],
): Promise<string[]> => {
  if (keys.length === 0) return [];
  const { connection_id: connectionId } = await readTenant(db, tenantId);
  return keys.filter((key) => key.startsWith(`${connectionId}/`));
};
