import { createKeyedTable } from "./coded-table.ts";
import type { Db } from "../port.ts";
import { ofTenant, rowsOfTenant } from "../engine/rows.ts";

/** The queries of the roles that tenants have created. */
export const {
  find: findCustomRole,
  update: replaceRole,
  remove: removeRole,
} = createKeyedTable("roles");

/** Lists the roles that a tenant has created, by name. */
export const listCustomRoles = (db: Db, tenantId: string) =>
  rowsOfTenant(db, "roles", tenantId).orderBy("name").execute();

/** Lists the users and clients that have a role, by e-mail address or name. */
export const listRoleHolders = async (db: Db, tenantId: string, id: string): Promise<string[]> => {
  const rows = await db
    .selectFrom("membership_roles")
    .innerJoin("users", "users.id", "membership_roles.user_id")
    .select("users.email")
    .where("membership_roles.tenant_id", "=", tenantId)
    .where("membership_roles.role_id", "=", id)
    .orderBy("users.email_folded")
    .execute();
  const clients = await ofTenant(db, "clients", tenantId)
    .select("name")
    .where("role_id", "=", id)
    .orderBy("name")
    .execute();
  return [...rows.map(({ email }) => email), ...clients.map(({ name }) => `the client ${name}`)];
};
