import { createCodedTable, foldTexts, isReferenced } from "./coded-table.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import type { ReasonRow } from "../tables/schema.ts";
import { rowsOfTenant } from "../engine/rows.ts";

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

const rows = (db: Db, tenantId: string) => rowsOfTenant(db, "reasons", tenantId);

/** A reason's code is unique in its category alone. */
export const findReasonByCode = (db: Db, tenantId: string, categoryId: string, code: string) =>
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

const withCategories = (db: Db, tenantId: string) =>
  db
    .selectFrom("reasons")
    .innerJoin("categories", (on) =>
      on
        .onRef("categories.tenant_id", "=", "reasons.tenant_id")
        .onRef("categories.id", "=", "reasons.category_id"),
    )
    .selectAll("reasons")
    .select(["categories.code_folded as category_code", "categories.default_internal_reason_id"])
    .where("reasons.tenant_id", "=", tenantId);

/** A reason with what a dispute needs of its category. */
export type CategorizedReason = ReasonRow & {
  category_code: string;
  default_internal_reason_id: string | null;
};

export const findCategorizedReason = (db: Db, tenantId: string, id: string) =>
  withCategories(db, tenantId).where("reasons.id", "=", id).executeTakeFirst();

/** Lists the reasons with a code; each is of another category. */
export const listReasonsByCode = (db: Db, tenantId: string, code: string) =>
  withCategories(db, tenantId).where("reasons.code_folded", "=", fold(code)).execute();
