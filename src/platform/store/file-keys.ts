import type { Db } from "./port.ts";

type Table = "dispute_attachments" | "document_attachments" | "run_chunks";

/** Returns those of a tenant's file keys that a row of the table has. */
export const findFileKeys = async (
  db: Db,
  table: Table,
  tenantId: string,
  keys: readonly string[],
): Promise<string[]> => {
  const rows = await db
    .selectFrom(table)
    .select("file_key")
    .where("tenant_id", "=", tenantId)
    .where("file_key", "in", keys)
    .execute();
  return rows.flatMap(({ file_key }) => file_key ?? []);
};
