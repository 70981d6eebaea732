import { codedTable, foldedTexts, isReferenced } from "./coded-table.ts";
import type { Db } from "./port.ts";
import type { DepartmentRow } from "./tables.ts";

export const {
  find: findDepartment,
  findByCode: findDepartmentByCode,
  list: listDepartments,
  insert: insertDepartment,
  update: updateDepartment,
  remove: removeDepartment,
} = codedTable("departments", (row) => ({ ...row, ...foldedTexts(row) }));

export const hasAssignees = (db: Db, row: DepartmentRow): Promise<boolean> =>
  isReferenced(db, row, "assignees", "department_id");
