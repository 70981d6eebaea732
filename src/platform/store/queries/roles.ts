import type { Db } from "../port.ts";
import type { RoleRow } from "../tables/schema.ts";

const ofTenant = (db: Db, tenantId: string) =>
  db.selectFrom("roles").selectAll().where("tenant_id", "=", tenantId);

/** Lists the roles that a tenant has created, by name. */
export const listCustomRoles = (db: Db, tenantId: string): Promise<RoleRow[]> =>
  ofTenant(db, tenantId).orderBy("name").execute();

/** Finds a role that a tenant has created. */
export const findCustomRole = (
  db: Db,
  tenantId: string,
  id: string,
): Promise<RoleRow | undefined> => ofTenant(db, tenantId).where("id", "=", id).executeTakeFirst();

export const insertRole = async (tx: Db, row: RoleRow): Promise<void> => {
  await tx.insertInto("roles").values(row).execute();
};

export const replaceRole = async (tx: Db, { tenant_id, id, ...row }: RoleRow): Promise<void> => {
  await tx
    .updateTable("roles")
    .set(row)
    .where("tenant_id", "=", tenant_id)
    .where("id", "=", id)
    .execute();
};

export const removeRole = async (tx: Db, tenantId: string, id: string): Promise<void> => {
  await tx.deleteFrom("roles").where("tenant_id", "=", tenantId).where("id", "=", id).execute();
};

/** Lists the e-mail addresses of the users that have a role. */
export const listRoleHolders = async (db: Db, tenantId: string, id: string): Promise<string[]> => {
  const rows = await db
    .selectFrom("membership_roles")
    .innerJoin("users", "users.id", "membership_roles.user_id")
    .select("users.email")
    .where("membership_roles.tenant_id", "=", tenantId)
    .where("membership_roles.role_id", "=", id)
    .orderBy("users.email_folded")
    .execute();
  return rows.map(({ email }) => email);
};
