import { createCodedTable, isReferenced } from "./coded-table.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import type { AssigneeRow, UserRow } from "../tables/schema.ts";
import { rowsOfTenant } from "../engine/rows.ts";

export const {
  find: findAssignee,
  findByCode: findAssigneeByEmail,
  insert: insertAssignee,
  update: updateAssignee,
  remove: removeAssignee,
} = createCodedTable(
  "assignees",
  (row) => ({
    ...row,
    email_folded: fold(row.email),
    name_folded: fold(`${row.first_name} ${row.last_name}`),
  }),
  "email_folded",
);

const rows = (db: Db, tenantId: string) => rowsOfTenant(db, "assignees", tenantId);

/** Selects assignees by e-mail address. */
export const selectAssignees = (db: Db, tenantId: string, departmentId: string | undefined) =>
  rows(db, tenantId)
    .$if(departmentId !== undefined, (query) =>
      query.where("department_id", "=", departmentId ?? ""),
    )
    .orderBy("email_folded");

/** Finds the assignees that stand for a user: by the user's id or e-mail address. */
export const findAssigneesOfPerson = (
  db: Db,
  tenantId: string,
  { id, email_folded }: Pick<UserRow, "id" | "email_folded">,
) =>
  rows(db, tenantId)
    .where(({ eb, or }) => or([eb("user_id", "=", id), eb("email_folded", "=", email_folded)]))
    .execute();

export const isAssigneeNamed = (db: Db, row: AssigneeRow): Promise<boolean> =>
  isReferenced(db, row, "disputes", "assignee_id");

/** The fields of a user that an assignee takes over. */
export const findMember = (db: Db, tenantId: string, userId: string) =>
  db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select([
      "users.id",
      "users.email",
      "users.first_name",
      "users.last_name",
      "users.default_language",
      "users.time_zone",
      "memberships.profile",
    ])
    .where("memberships.tenant_id", "=", tenantId)
    .where("memberships.user_id", "=", userId)
    .executeTakeFirst();
