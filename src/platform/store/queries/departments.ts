import { createCodedTable, foldTexts, isReferenced } from "./coded-table.ts";
import type { Db } from "../port.ts";
import type { DepartmentRow } from "../tables/schema.ts";

export const {
  find: findDepartment,
  findByCode: findDepartmentByCode,
  select: selectDepartments,
  insert: insertDepartment,
  update: updateDepartment,
  remove: removeDepartment,
} = createCodedTable("departments", (row) => ({ ...row, ...foldTexts(row) }));

export const hasAssignees = (db: Db, row: DepartmentRow): Promise<boolean> =>
  isReferenced(db, row, "assignees", "department_id");
