import { Problem } from "../../contract/errors.ts";
import { BUILT_IN_ROLES, isPermission, PERMISSIONS } from "../../contract/permissions.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { fold } from "../store/engine/fold.ts";
import type { Db } from "../store/port.ts";
import type { RoleRow } from "../store/tables/schema.ts";
import {
  findCustomRole,
  listCustomRoles,
  listRoleHolders,
  removeRole,
  replaceRole,
} from "../store/queries/roles.ts";
import { listMemberRoles } from "../store/queries/users.ts";
import { checkConfirmed } from "./confirm.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

export type RoleRecord = { roleId: string; name: string; grants: string[] };

type NamedRole = { id: string; name: string };

const parseGrants = ({ grants }: Pick<RoleRow, "grants">): string[] =>
  JSON.parse(grants) as string[];

const toRecord = (row: RoleRow): RoleRecord => ({
  roleId: row.id,
  name: row.name,
  grants: parseGrants(row),
});

/** Returns the roles of a tenant: the built-in ones, then its own. */
export const listRoles = async (db: Db, tenantId: string): Promise<NamedRole[]> => [
  ...BUILT_IN_ROLES.map(({ roleId, name }) => ({ id: roleId, name })),
  ...(await listCustomRoles(db, tenantId)),
];

const findRoleId = (roles: readonly NamedRole[], name: string): string | undefined => {
  const folded = fold(name.trim());
  return roles.find((role) => fold(role.name) === folded)?.id;
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

const checkGrants = (grants: readonly string[]): void => {
  const wrong = grants.filter((grant) => !isPermission(grant));
  if (wrong.length === 0) return;
  throw new Problem(
    "invalid_request",
    `${wrong.join(", ")}: no such permission. They are ${PERMISSIONS.join(", ")}.`,
  );
};

export const createRole = (
  { store, newId, record }: AdminNeeds,
  made: { tenantId: string; name: string; grants: readonly string[] },
): Promise<RoleRecord> =>
  store.transaction(async (tx) => {
    const { tenantId } = made;
    await checkTenantExists(tx, tenantId);
    checkGrants(made.grants);
    const name = made.name.trim();
    if (name === "") throw new Problem("invalid_request", "A role needs a name.");
    if (findRoleId(await listRoles(tx, tenantId), name) !== undefined) {
      throw new Problem("conflict", `The tenant has a role ${name} already.`);
    }
    const grants = [...new Set(made.grants)];
    const roleId = newId();
    const row = { tenant_id: tenantId, id: roleId, name, grants: JSON.stringify(grants) };
    await insertAll(tx, "roles", [row]);
    const metadata = { grants: grants.join(", ") };
    await record?.(tx, { tenantId, action: "admin.role_created", resourceId: roleId, metadata });
    return { roleId, name, grants };
  });

/** Lists a tenant's roles with the number of users that have each. */
export const listTenantRoles = async (db: Db, tenantId: string) => {
  await checkTenantExists(db, tenantId);
  const custom = await listCustomRoles(db, tenantId);
  const members = Map.groupBy(await listMemberRoles(db, tenantId), ({ roleId }) => roleId);
  const toListed = (role: RoleRecord, builtIn: boolean) => ({
    tenantId,
    ...role,
    builtIn,
    users: members.get(role.roleId)?.length ?? 0,
  });
  return [
    ...BUILT_IN_ROLES.map((role) => toListed({ ...role, grants: [...role.grants] }, true)),
    ...custom.map((row) => toListed(toRecord(row), false)),
  ];
};

/** Finds a role that the tenant has created. @throws {Problem} not_found, conflict */
const readCustomRole = async (db: Db, { tenantId, name }: RoleName): Promise<RoleRow> => {
  await checkTenantExists(db, tenantId);
  const [id] = await findRoleIds(db, tenantId, [name]);
  const row = await findCustomRole(db, tenantId, id ?? "");
  if (row !== undefined) return row;
  throw new Problem("conflict", `${name} is a built-in role, which cannot be changed.`);
};

type RoleName = { tenantId: string; name: string };

/** Renames a role, or replaces its permissions; effective at the next request. */
export const updateRole = (
  { store, record }: Pick<AdminNeeds, "store" | "record">,
  change: RoleName & { rename?: string | undefined; grants?: readonly string[] | undefined },
): Promise<RoleRecord> =>
  store.transaction(async (tx) => {
    const { tenantId } = change;
    const row = await readCustomRole(tx, change);
    const grants = change.grants ?? parseGrants(row);
    checkGrants(grants);
    const name = (change.rename ?? row.name).trim();
    if (name === "") throw new Problem("invalid_request", "A role needs a name.");
    const holder = findRoleId(await listRoles(tx, tenantId), name);
    if (holder !== undefined && holder !== row.id) {
      throw new Problem("conflict", `The tenant has a role ${name} already.`);
    }
    const next = { ...row, name, grants: JSON.stringify([...new Set(grants)]) };
    await replaceRole(tx, row, next);
    const metadata = { grants: grants.join(", ") };
    await record?.(tx, { tenantId, action: "admin.role_changed", resourceId: row.id, metadata });
    return toRecord(next);
  });

const MOST_NAMED = 20;

/** Deletes a role that no user or client has. */
export const deleteRole = (
  { store, record }: Pick<AdminNeeds, "store" | "record">,
  { confirm, ...roleName }: RoleName & { confirm?: string | undefined },
): Promise<{ roleId: string; name: string; deleted: true }> =>
  store.transaction(async (tx) => {
    const { tenantId } = roleName;
    const { id: roleId, name } = await readCustomRole(tx, roleName);
    checkConfirmed([name], confirm);
    const holders = await listRoleHolders(tx, tenantId, roleId);
    if (holders.length > 0) {
      const named = holders.slice(0, MOST_NAMED);
      const more = holders.length - named.length;
      throw new Problem(
        "in_use",
        `The role ${name} belongs to ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}. Give them other roles first: admin user update; delete clients: admin client delete.`,
      );
    }
    await removeRole(tx, { tenant_id: tenantId, id: roleId });
    await record?.(tx, { tenantId, action: "admin.role_deleted", resourceId: roleId });
    return { roleId, name, deleted: true };
  });
