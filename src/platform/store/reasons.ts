import { fold } from "./fold.ts";
import type { Db } from "./port.ts";
import type { ReasonRow } from "./tables.ts";

type Reason = Omit<ReasonRow, "code_folded" | "description_folded">;

export type ReasonFilter = {
  categoryId?: string | undefined;
  visibility?: readonly ReasonRow["visibility"][] | undefined;
};

const folded = (row: Reason): ReasonRow => ({
  ...row,
  code_folded: fold(row.code),
  description_folded: fold(row.description),
});

const rows = (db: Db, tenantId: string) =>
  db.selectFrom("reasons").selectAll().where("tenant_id", "=", tenantId);

export const findReason = (db: Db, tenantId: string, id: string): Promise<ReasonRow | undefined> =>
  rows(db, tenantId).where("id", "=", id).executeTakeFirst();

/** A reason's code is unique in its category alone. */
export const findReasonByCode = (
  db: Db,
  tenantId: string,
  categoryId: string,
  code: string,
): Promise<ReasonRow | undefined> =>
  rows(db, tenantId)
    .where("category_id", "=", categoryId)
    .where("code_folded", "=", fold(code))
    .executeTakeFirst();

export const listReasons = (
  db: Db,
  tenantId: string,
  { categoryId, visibility }: ReasonFilter,
): Promise<ReasonRow[]> =>
  rows(db, tenantId)
    .$if(categoryId !== undefined, (query) => query.where("category_id", "=", categoryId ?? ""))
    .$if(visibility !== undefined, (query) => query.where("visibility", "in", visibility ?? []))
    .orderBy("code_folded")
    .orderBy("id")
    .execute();

/** Undefined where the category has the code already. */
export const insertReason = async (db: Db, record: Reason): Promise<ReasonRow | undefined> => {
  const row = folded(record);
  const result = await db
    .insertInto("reasons")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n ? row : undefined;
};

export const updateReason = async (db: Db, record: Reason): Promise<ReasonRow> => {
  const row = folded(record);
  await db
    .updateTable("reasons")
    .set(row)
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
  return row;
};

export const removeReason = async (db: Db, row: Reason): Promise<void> => {
  await db
    .deleteFrom("reasons")
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
};

/** Whether a dispute bears it, as its internal or its external reason. */
export const isReasonUsed = async (db: Db, row: Reason): Promise<boolean> => {
  const dispute = await db
    .selectFrom("disputes")
    .select("id")
    .where("tenant_id", "=", row.tenant_id)
    .where((either) =>
      either.or([either("reason_id", "=", row.id), either("external_reason_id", "=", row.id)]),
    )
    .limit(1)
    .executeTakeFirst();
  return dispute !== undefined;
};
