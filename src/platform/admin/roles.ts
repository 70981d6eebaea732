import { Problem } from "../../contract/errors.ts";
import { BUILT_IN_ROLES, isPermission, PERMISSIONS } from "../../contract/permissions.ts";
import { fold } from "../store/fold.ts";
import type { Db } from "../store/port.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

export type RoleRecord = { roleId: string; name: string; grants: string[] };

/** The id of the role that a tenant knows by this name, in any case. */
export const findRoleId = async (
  db: Db,
  tenantId: string,
  name: string,
): Promise<string | undefined> => {
  const wanted = fold(name.trim());
  const builtIn = BUILT_IN_ROLES.find((role) => fold(role.name) === wanted);
  if (builtIn !== undefined) return builtIn.roleId;
  const roles = await db
    .selectFrom("roles")
    .select(["id", "name"])
    .where("tenant_id", "=", tenantId)
    .execute();
  return roles.find((role) => fold(role.name) === wanted)?.id;
};

export const createRole = (
  { store, newId }: AdminNeeds,
  made: { tenantId: string; name: string; grants: readonly string[] },
): Promise<RoleRecord> =>
  store.transaction(async (tx) => {
    await checkTenantExists(tx, made.tenantId);
    const wrong = made.grants.filter((grant) => !isPermission(grant));
    if (wrong.length > 0) {
      throw new Problem(
        "invalid_request",
        `${wrong.join(", ")}: no such permission. They are ${PERMISSIONS.join(", ")}.`,
      );
    }
    const name = made.name.trim();
    if (name === "") throw new Problem("invalid_request", "A role needs a name.");
    if ((await findRoleId(tx, made.tenantId, name)) !== undefined) {
      throw new Problem("conflict", `The tenant has a role ${name} already.`);
    }
    const grants = [...new Set(made.grants)];
    const roleId = newId();
    await tx
      .insertInto("roles")
      .values({ tenant_id: made.tenantId, id: roleId, name, grants: JSON.stringify(grants) })
      .execute();
    return { roleId, name, grants };
  });
