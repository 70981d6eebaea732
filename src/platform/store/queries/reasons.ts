import { createCodedTable, foldTexts, isReferenced } from "./coded-table.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import type { ReasonRow } from "../tables/schema.ts";

export const {
  find: findReason,
  insert: insertReason,
  update: updateReason,
  remove: removeReason,
} = createCodedTable("reasons", (row) => ({ ...row, ...foldTexts(row) }));

export type ReasonFilter = {
  categoryId?: string | undefined;
  visibility?: readonly ReasonRow["visibility"][] | undefined;
};

const rows = (db: Db, tenantId: string) =>
  db.selectFrom("reasons").selectAll().where("tenant_id", "=", tenantId);

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

/** Selects reasons by code. */
export const selectReasons = (db: Db, tenantId: string, { categoryId, visibility }: ReasonFilter) =>
  rows(db, tenantId)
    .$if(categoryId !== undefined, (query) => query.where("category_id", "=", categoryId ?? ""))
    .$if(visibility !== undefined, (query) => query.where("visibility", "in", visibility ?? []))
    .orderBy("code_folded")
    .orderBy("id");

export const isReasonUsed = (db: Db, row: ReasonRow): Promise<boolean> =>
  isReferenced(db, row, "disputes", "reason_id", "external_reason_id");
