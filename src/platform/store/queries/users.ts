import { BUILT_IN_ROLES, isPermission, type Permission } from "../../../contract/permissions.ts";
import { getDialect } from "../engine/dialect.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import { prepareFind, prepareQuery } from "../engine/prepared.ts";
import type { UserRow } from "../tables/schema.ts";
import { changeRows, ofTenant, removeRows } from "../engine/rows.ts";

export const findUser = prepareFind((db: Db, id: string) =>
  db.selectFrom("users").selectAll().where("id", "=", id),
);

export const findUserByEmail = (db: Db, email: string) =>
  db.selectFrom("users").selectAll().where("email_folded", "=", fold(email)).executeTakeFirst();

/** Finds users by folded e-mail addresses. */
export const findUsersByEmail = (db: Db, emails: readonly string[]) =>
  db
    .selectFrom("users")
    .selectAll()
    .where(getDialect(db).isAmongKeys("email_folded", emails))
    .execute();

/** Lists the tenants that a user can access, by id. */
export const listActiveTenants = prepareQuery((db: Db, userId: string) =>
  db
    .selectFrom("memberships")
    .innerJoin("tenants", "tenants.id", "memberships.tenant_id")
    .selectAll("tenants")
    .where("memberships.user_id", "=", userId)
    .where("memberships.status", "=", "Active")
    .orderBy("tenants.id"),
);

/** Returns a user's default tenant if it is accessible, else the first accessible one. */
export const findHomeTenant = (
  user: Pick<UserRow, "default_tenant_id">,
  tenants: readonly { id: string }[],
): string | null =>
  (tenants.find((tenant) => tenant.id === user.default_tenant_id) ?? tenants[0])?.id ?? null;

const builtIn = new Map(BUILT_IN_ROLES.map((role) => [role.roleId, role]));

const parseGrants = (text: string): Permission[] =>
  (JSON.parse(text) as string[]).filter(isPermission);

const rolesOfMember = prepareQuery((db: Db, tenantId: string, userId: string) =>
  db
    .selectFrom("memberships")
    .leftJoin("membership_roles", (join) =>
      join
        .onRef("membership_roles.tenant_id", "=", "memberships.tenant_id")
        .onRef("membership_roles.user_id", "=", "memberships.user_id"),
    )
    .leftJoin("roles", (join) =>
      join
        .onRef("roles.tenant_id", "=", "membership_roles.tenant_id")
        .onRef("roles.id", "=", "membership_roles.role_id"),
    )
    .select(["membership_roles.role_id", "roles.grants"])
    .where("memberships.tenant_id", "=", tenantId)
    .where("memberships.user_id", "=", userId)
    .where("memberships.status", "=", "Active"),
);

/** Returns the permissions of roles; a role without stored grants is a built-in one. */
export const toPermissions = (
  roles: readonly { role_id: string | null; grants: string | null }[],
): ReadonlySet<Permission> =>
  new Set(
    roles.flatMap(({ role_id, grants }) =>
      grants === null ? (builtIn.get(role_id ?? "")?.grants ?? []) : parseGrants(grants),
    ),
  );

/** Finds the permissions of an active member; undefined for any other user. */
export const findPermissions = async (
  db: Db,
  tenantId: string,
  userId: string,
): Promise<ReadonlySet<Permission> | undefined> => {
  const rows = await rolesOfMember(db, tenantId, userId);
  return rows.length === 0 ? undefined : toPermissions(rows);
};

/** Lists the ids of a member's roles. */
export const listRolesOf = async (db: Db, tenantId: string, userId: string): Promise<string[]> => {
  const rows = await ofTenant(db, "membership_roles", tenantId)
    .select("role_id")
    .where("user_id", "=", userId)
    .execute();
  return rows.map(({ role_id: id }) => id);
};

export type MemberRole = { userId: string; roleId: string; name: string; custom: boolean };

/** Returns the roles of a tenant's members, highest built-in ones first. */
export const listMemberRoles = async (db: Db, tenantId: string): Promise<MemberRole[]> => {
  const rows = await db
    .selectFrom("membership_roles")
    .leftJoin("roles", (join) =>
      join
        .onRef("roles.tenant_id", "=", "membership_roles.tenant_id")
        .onRef("roles.id", "=", "membership_roles.role_id"),
    )
    .select(["membership_roles.user_id", "membership_roles.role_id", "roles.name"])
    .where("membership_roles.tenant_id", "=", tenantId)
    .execute();
  const rank = [...builtIn.keys()];
  return rows
    .map((row) => ({
      userId: row.user_id,
      roleId: row.role_id,
      name: row.name ?? builtIn.get(row.role_id)?.name ?? row.role_id,
      custom: row.name !== null,
    }))
    .toSorted((a, b) => rank.indexOf(a.roleId) - rank.indexOf(b.roleId));
};

export const listMembers = (db: Db, tenantId: string) =>
  db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .selectAll("users")
    .select(["memberships.status", "memberships.profile", "memberships.added_at"])
    .where("memberships.tenant_id", "=", tenantId)
    .orderBy("users.email_folded")
    .execute();

export const listMemberships = (db: Db, userIds: readonly string[]) =>
  db
    .selectFrom("memberships")
    .select(["user_id", "tenant_id"])
    .where("user_id", "in", userIds)
    .orderBy("tenant_id")
    .execute();

export type EndedCredentials = { sessions: number; apiKeys: number };

/** Ends a user's sessions and removes the user's API keys, those of connected programs included. */
const endCredentials = async (tx: Db, user_id: string): Promise<EndedCredentials> => {
  // A session that is creating an API key at the same time holds its own row until the key exists.
  const sessions = await removeRows(tx, "sessions", { user_id });
  return { sessions, apiKeys: await removeRows(tx, "api_keys", { user_id }) };
};

/**
 * Replaces a user's password and ends everything that the former one gave access to; undefined, and nothing changes,
 * if the password was replaced meanwhile.
 */
export const replacePassword = async (
  tx: Db,
  { id, password_hash }: Pick<UserRow, "id" | "password_hash">,
  passwordHash: string,
): Promise<EndedCredentials | undefined> => {
  const change = { password_hash: passwordHash };
  const changed = await changeRows(tx, "users", { id, password_hash }, change);
  return changed === 0 ? undefined : endCredentials(tx, id);
};

/** Records a login with a password; returns whether the user still has that password. */
export const recordLogin = async (
  tx: Db,
  { id, password_hash }: Pick<UserRow, "id" | "password_hash">,
  now: number,
): Promise<boolean> => {
  const login = { last_login_at: now, last_login_method: "USERNAME_PASSWORD" };
  return (await changeRows(tx, "users", { id, password_hash }, login)) > 0;
};

/** Records a login without a password. */
export const recordExternalLogin = (
  tx: Db,
  id: string,
  { at, method }: { at: number; method: string },
) => changeRows(tx, "users", { id }, { last_login_at: at, last_login_method: method });

/** Sets a user's password; unlike {@link replacePassword} it ends no credentials. */
export const setPasswordHash = (tx: Db, id: string, passwordHash: string) =>
  changeRows(tx, "users", { id }, { password_hash: passwordHash });

/** Removes a user of no tenant, with sessions, keys and known addresses. */
export const removeUser = async (tx: Db, id: string): Promise<void> => {
  await endCredentials(tx, id);
  await removeRows(tx, "known_addresses", { user_id: id });
  await removeRows(tx, "users", { id });
};

/** Selects the users that belong to a tenant, by id. */
export const selectUsersOf = (db: Db, tenantId: string) =>
  db
    .selectFrom("users")
    .innerJoin("memberships", "memberships.user_id", "users.id")
    .selectAll("users")
    .where("memberships.tenant_id", "=", tenantId)
    .orderBy("users.id");
