import { fold } from "./fold.ts";
import type { Db } from "./port.ts";
import type { CategoryRow } from "./tables.ts";

type Category = Omit<CategoryRow, "code_folded" | "description_folded">;

/** A category and the codes of its default reasons. */
export type CategoryView = CategoryRow & {
  internal_code: string | null;
  external_code: string | null;
};

const folded = (row: Category): CategoryRow => ({
  ...row,
  code_folded: fold(row.code),
  description_folded: fold(row.description),
});

const rows = (db: Db, tenantId: string) =>
  db.selectFrom("categories").selectAll().where("tenant_id", "=", tenantId);

const views = (db: Db, tenantId: string) =>
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

export const findCategory = (
  db: Db,
  tenantId: string,
  id: string,
): Promise<CategoryRow | undefined> => rows(db, tenantId).where("id", "=", id).executeTakeFirst();

export const findCategoryByCode = (
  db: Db,
  tenantId: string,
  code: string,
): Promise<CategoryRow | undefined> =>
  rows(db, tenantId).where("code_folded", "=", fold(code)).executeTakeFirst();

export const viewCategory = (
  db: Db,
  tenantId: string,
  id: string,
): Promise<CategoryView | undefined> =>
  views(db, tenantId).where("categories.id", "=", id).executeTakeFirst();

export const viewCategoryByCode = (
  db: Db,
  tenantId: string,
  code: string,
): Promise<CategoryView | undefined> =>
  views(db, tenantId).where("categories.code_folded", "=", fold(code)).executeTakeFirst();

export const listCategories = (db: Db, tenantId: string): Promise<CategoryView[]> =>
  views(db, tenantId).orderBy("categories.code_folded").execute();

/** The categories that have the reason as a default one. */
export const listCategoriesByDefaultReason = (
  db: Db,
  tenantId: string,
  reasonId: string,
): Promise<CategoryRow[]> =>
  rows(db, tenantId)
    .where((either) =>
      either.or([
        either("default_internal_reason_id", "=", reasonId),
        either("default_external_reason_id", "=", reasonId),
      ]),
    )
    .orderBy("code_folded")
    .execute();

export const findCategoryByDefaultAssignee = (
  db: Db,
  tenantId: string,
  assigneeId: string,
): Promise<CategoryRow | undefined> =>
  rows(db, tenantId)
    .where("default_assignee_id", "=", assigneeId)
    .orderBy("code_folded")
    .limit(1)
    .executeTakeFirst();

/** Undefined where the code is taken. */
export const insertCategory = async (
  db: Db,
  record: Category,
): Promise<CategoryRow | undefined> => {
  const row = folded(record);
  const result = await db
    .insertInto("categories")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n ? row : undefined;
};

export const updateCategory = async (db: Db, record: Category): Promise<CategoryRow> => {
  const row = folded(record);
  await db
    .updateTable("categories")
    .set(row)
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
  return row;
};

export const removeCategory = async (db: Db, row: Category): Promise<void> => {
  await db
    .deleteFrom("categories")
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
};

export const hasReasons = async (db: Db, row: Category): Promise<boolean> => {
  const reason = await db
    .selectFrom("reasons")
    .select("id")
    .where("tenant_id", "=", row.tenant_id)
    .where("category_id", "=", row.id)
    .limit(1)
    .executeTakeFirst();
  return reason !== undefined;
};
