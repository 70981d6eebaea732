import { fold } from "./fold.ts";
import type { Db } from "./port.ts";
import type { DepartmentRow } from "./tables.ts";

type Department = Omit<DepartmentRow, "code_folded" | "description_folded">;

const folded = (row: Department): DepartmentRow => ({
  ...row,
  code_folded: fold(row.code),
  description_folded: fold(row.description),
});

const rows = (db: Db, tenantId: string) =>
  db.selectFrom("departments").selectAll().where("tenant_id", "=", tenantId);

export const findDepartment = (
  db: Db,
  tenantId: string,
  id: string,
): Promise<DepartmentRow | undefined> => rows(db, tenantId).where("id", "=", id).executeTakeFirst();

export const findDepartmentByCode = (
  db: Db,
  tenantId: string,
  code: string,
): Promise<DepartmentRow | undefined> =>
  rows(db, tenantId).where("code_folded", "=", fold(code)).executeTakeFirst();

export const listDepartments = (db: Db, tenantId: string): Promise<DepartmentRow[]> =>
  rows(db, tenantId).orderBy("code_folded").execute();

/** Undefined where the code is taken. */
export const insertDepartment = async (
  db: Db,
  record: Department,
): Promise<DepartmentRow | undefined> => {
  const row = folded(record);
  const result = await db
    .insertInto("departments")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n ? row : undefined;
};

export const updateDepartment = async (db: Db, record: Department): Promise<DepartmentRow> => {
  const row = folded(record);
  await db
    .updateTable("departments")
    .set(row)
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
  return row;
};

export const removeDepartment = async (db: Db, row: Department): Promise<void> => {
  await db
    .deleteFrom("departments")
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
};

export const hasAssignees = async (db: Db, row: Department): Promise<boolean> => {
  const assignee = await db
    .selectFrom("assignees")
    .select("id")
    .where("tenant_id", "=", row.tenant_id)
    .where("department_id", "=", row.id)
    .limit(1)
    .executeTakeFirst();
  return assignee !== undefined;
};
