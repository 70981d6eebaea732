import { createCodedTable, foldTexts, isReferenced } from "./coded-table.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import type { CategoryRow } from "../tables/schema.ts";
import { changeRows, rowsOfTenant } from "../engine/rows.ts";

export const {
  find: findCategory,
  findByCode: findCategoryByCode,
  insert: insertCategory,
  update: updateCategory,
  remove: removeCategory,
} = createCodedTable("categories", (row) => ({ ...row, ...foldTexts(row) }));

/** A category and the codes of its default reasons. */
export type CategoryView = CategoryRow & {
  internal_code: string | null;
  external_code: string | null;
};

const rows = (db: Db, tenantId: string) => rowsOfTenant(db, "categories", tenantId);

const joinDefaultReasons = (db: Db, tenantId: string) =>
  db
    .selectFrom("categories")
    .leftJoin("reasons as internal", (join) =>
      join
        .onRef("internal.tenant_id", "=", "categories.tenant_id")
        .onRef("internal.id", "=", "categories.default_internal_reason_id"),
    )
    .leftJoin("reasons as external", (join) =>
      join
        .onRef("external.tenant_id", "=", "categories.tenant_id")
        .onRef("external.id", "=", "categories.default_external_reason_id"),
    )
    .selectAll("categories")
    .select(["internal.code as internal_code", "external.code as external_code"])
    .where("categories.tenant_id", "=", tenantId);

export const viewCategory = (db: Db, tenantId: string, id: string) =>
  joinDefaultReasons(db, tenantId).where("categories.id", "=", id).executeTakeFirst();

export const viewCategoryByCode = (db: Db, tenantId: string, code: string) =>
  joinDefaultReasons(db, tenantId)
    .where("categories.code_folded", "=", fold(code))
    .executeTakeFirst();

/** Selects the categories by code. */
export const selectCategories = (db: Db, tenantId: string) =>
  joinDefaultReasons(db, tenantId).orderBy("categories.code_folded");

/** Finds the categories that have the reason as a default. */
export const listCategoriesByDefaultReason = (db: Db, tenantId: string, reasonId: string) =>
  rows(db, tenantId)
    .where((either) =>
      either.or([
        either("default_internal_reason_id", "=", reasonId),
        either("default_external_reason_id", "=", reasonId),
      ]),
    )
    .orderBy("code_folded")
    .execute();

export const findCategoryByDefaultAssignee = (db: Db, tenantId: string, assigneeId: string) =>
  rows(db, tenantId)
    .where("default_assignee_id", "=", assigneeId)
    .orderBy("code_folded")
    .limit(1)
    .executeTakeFirst();

export const hasReasons = (db: Db, row: CategoryRow): Promise<boolean> =>
  isReferenced(db, row, "reasons", "category_id");

/** Finds the id of a category's default assignee; null where there is none or the assignee is inactive. */
export const findDefaultAssignee = async (
  db: Db,
  tenantId: string,
  categoryId: string,
): Promise<string | null> => {
  const row = await db
    .selectFrom("categories")
    .innerJoin("assignees", (on) =>
      on
        .onRef("assignees.tenant_id", "=", "categories.tenant_id")
        .onRef("assignees.id", "=", "categories.default_assignee_id"),
    )
    .select("assignees.id")
    .where("categories.tenant_id", "=", tenantId)
    .where("categories.id", "=", categoryId)
    .where("assignees.active", "=", 1)
    .executeTakeFirst();
  return row?.id ?? null;
};

/** Takes an assignee from the categories whose default it is. */
export const removeDefaultAssignee = (tx: Db, tenant_id: string, default_assignee_id: string) =>
  changeRows(tx, "categories", { tenant_id, default_assignee_id }, { default_assignee_id: null });
