import { fold } from "./fold.ts";
import type { Db } from "./port.ts";
import type { ResolutionRow } from "./tables.ts";

type Resolution = Omit<ResolutionRow, "code_folded">;

const folded = (row: Resolution): ResolutionRow => ({ ...row, code_folded: fold(row.code) });

const rows = (db: Db, tenantId: string) =>
  db.selectFrom("resolutions").selectAll().where("tenant_id", "=", tenantId);

export const findResolution = (
  db: Db,
  tenantId: string,
  id: string,
): Promise<ResolutionRow | undefined> => rows(db, tenantId).where("id", "=", id).executeTakeFirst();

export const findResolutionByCode = (
  db: Db,
  tenantId: string,
  code: string,
): Promise<ResolutionRow | undefined> =>
  rows(db, tenantId).where("code_folded", "=", fold(code)).executeTakeFirst();

/** The one that closes disputes when their document closes, where the tenant has chosen one. */
export const findResolutionForClosedInvoices = (
  db: Db,
  tenantId: string,
): Promise<ResolutionRow | undefined> =>
  rows(db, tenantId).where("apply_when_invoice_closed", "=", 1).executeTakeFirst();

export const listResolutions = (db: Db, tenantId: string): Promise<ResolutionRow[]> =>
  rows(db, tenantId).orderBy("code_folded").execute();

/** Undefined where the code is taken. */
export const insertResolution = async (
  db: Db,
  record: Resolution,
): Promise<ResolutionRow | undefined> => {
  const row = folded(record);
  const result = await db
    .insertInto("resolutions")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n ? row : undefined;
};

export const updateResolution = async (db: Db, record: Resolution): Promise<ResolutionRow> => {
  const row = folded(record);
  await db
    .updateTable("resolutions")
    .set(row)
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
  return row;
};

export const removeResolution = async (db: Db, row: Resolution): Promise<void> => {
  await db
    .deleteFrom("resolutions")
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
};

export const isResolutionUsed = async (db: Db, row: Resolution): Promise<boolean> => {
  const dispute = await db
    .selectFrom("disputes")
    .select("id")
    .where("tenant_id", "=", row.tenant_id)
    .where("resolution_id", "=", row.id)
    .limit(1)
    .executeTakeFirst();
  return dispute !== undefined;
};
