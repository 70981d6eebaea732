import { fold } from "./fold.ts";
import type { Db } from "./port.ts";
import type { AssigneeRow } from "./tables.ts";

type Assignee = Omit<AssigneeRow, "email_folded" | "name_folded">;

const folded = (row: Assignee): AssigneeRow => ({
  ...row,
  email_folded: fold(row.email),
  name_folded: fold(`${row.first_name} ${row.last_name}`),
});

const rows = (db: Db, tenantId: string) =>
  db.selectFrom("assignees").selectAll().where("tenant_id", "=", tenantId);

export const findAssignee = (
  db: Db,
  tenantId: string,
  id: string,
): Promise<AssigneeRow | undefined> => rows(db, tenantId).where("id", "=", id).executeTakeFirst();

export const findAssigneeByEmail = (
  db: Db,
  tenantId: string,
  email: string,
): Promise<AssigneeRow | undefined> =>
  rows(db, tenantId).where("email_folded", "=", fold(email)).executeTakeFirst();

export const listAssignees = (
  db: Db,
  tenantId: string,
  departmentId: string | undefined,
): Promise<AssigneeRow[]> =>
  rows(db, tenantId)
    .$if(departmentId !== undefined, (query) =>
      query.where("department_id", "=", departmentId ?? ""),
    )
    .orderBy("email_folded")
    .execute();

/** Undefined where the e-mail address is taken. */
export const insertAssignee = async (
  db: Db,
  record: Assignee,
): Promise<AssigneeRow | undefined> => {
  const row = folded(record);
  const result = await db
    .insertInto("assignees")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n ? row : undefined;
};

export const updateAssignee = async (db: Db, record: Assignee): Promise<AssigneeRow> => {
  const row = folded(record);
  await db
    .updateTable("assignees")
    .set(row)
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
  return row;
};

export const removeAssignee = async (db: Db, row: Assignee): Promise<void> => {
  await db
    .deleteFrom("assignees")
    .where("tenant_id", "=", row.tenant_id)
    .where("id", "=", row.id)
    .execute();
};

export const isAssigneeNamed = async (db: Db, row: Assignee): Promise<boolean> => {
  const dispute = await db
    .selectFrom("disputes")
    .select("id")
    .where("tenant_id", "=", row.tenant_id)
    .where("assignee_id", "=", row.id)
    .limit(1)
    .executeTakeFirst();
  return dispute !== undefined;
};

/** A user of the tenant, as far as an assignee is filled from one. */
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
