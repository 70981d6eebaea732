import { Problem } from "../../contract/errors.ts";
import { BUILT_IN_ROLES, isPermission, PERMISSIONS } from "../../contract/permissions.ts";
import { fold } from "../store/fold.ts";
import type { Db } from "../store/port.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

export type RoleRecord = { roleId: string; name: string; grants: string[] };

type NamedRole = { id: string; name: string };

/** Returns the roles of a tenant: the built-in ones, then its own. */
export const listRoles = async (db: Db, tenantId: string): Promise<NamedRole[]> => [
  ...BUILT_IN_ROLES.map(({ roleId, name }) => ({ id: roleId, name })),
  ...(await db
    .selectFrom("roles")
    .select(["id", "name"])
    .where("tenant_id", "=", tenantId)
    .orderBy("name")
    .execute()),
];

const findRoleId = (roles: readonly NamedRole[], name: string): string | undefined => {
  const wanted = fold(name.trim());
  return roles.find((role) => fold(role.name) === wanted)?.id;
};

/** Returns the ids of a tenant's roles by name, ignoring case. */
export const findRoleIds = async (
  db: Db,
  tenantId: string,
  names: readonly string[],
): Promise<string[]> => {
  const roles = await listRoles(db, tenantId);
  return [...new Set(names)].map((name) => {
    const id = findRoleId(roles, name);
    if (id !== undefined) return id;
    const known = roles.map((role) => role.name).join(", ");
    throw new Problem("not_found", `The tenant has no role ${name}; its roles are ${known}.`);
  });
};

export const createRole = (
  { store, newId, record }: AdminNeeds,
  made: { tenantId: string; name: string; grants: readonly string[] },
): Promise<RoleRecord> =>
  store.transaction(async (tx) => {
    const { tenantId } = made;
    await checkTenantExists(tx, tenantId);
    const wrong = made.grants.filter((grant) => !isPermission(grant));
    if (wrong.length > 0) {
      throw new Problem(
        "invalid_request",
        `${wrong.join(", ")}: no such permission. They are ${PERMISSIONS.join(", ")}.`,
      );
    }
    const name = made.name.trim();
    if (name === "") throw new Problem("invalid_request", "A role needs a name.");
    if (findRoleId(await listRoles(tx, tenantId), name) !== undefined) {
      throw new Problem("conflict", `The tenant has a role ${name} already.`);
    }
    const grants = [...new Set(made.grants)];
    const roleId = newId();
    await tx
      .insertInto("roles")
      .values({ tenant_id: tenantId, id: roleId, name, grants: JSON.stringify(grants) })
      .execute();
    const metadata = { grants: grants.join(", ") };
    await record?.(tx, { tenantId, action: "admin.role_created", resourceId: roleId, metadata });
    return { roleId, name, grants };
  });
