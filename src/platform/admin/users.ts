import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { checkNewPassword, hashPassword } from "../passwords.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { fold } from "../store/engine/fold.ts";
import type { Db } from "../store/port.ts";
import type { UserStatus } from "../store/tables/schema.ts";
import {
  findMembership,
  replaceMemberRoles,
  updateMembership,
} from "../store/queries/memberships.ts";
import { findUserByEmail, listMemberRoles } from "../store/queries/users.ts";
import type { CommandChange } from "./changes.ts";
import { findRoleIds } from "./roles.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

export type UserRecord = {
  userId: string;
  email: string;
  tenantId: string;
  roles: string[];
  status: UserStatus;
};

/** `password`: `set` to the given one, or `kept`, where an existing user joins a tenant: the given one was not used. */
export type CreatedUser = UserRecord & { password: "set" | "kept" };

export type NewUser = {
  tenantId: string;
  email: string;
  firstName: string;
  lastName: string;
  roles: readonly string[];
};

const readRecord = async (db: Db, tenantId: string, email: string): Promise<UserRecord> => {
  const user = await findUserByEmail(db, email);
  const member = user && (await findMembership(db, tenantId, user.id));
  if (user === undefined || member === undefined) {
    throw new Problem("not_found", `The tenant has no user ${email}.`);
  }
  const roles = (await listMemberRoles(db, tenantId))
    .filter((role) => role.userId === user.id)
    .map((role) => role.name);
  return { userId: user.id, email: user.email, tenantId, roles, status: member.status };
};

/** Inserts a user within a transaction; `passwordHash` null: the user cannot log in. */
export const insertUser = async (
  tx: Db,
  { newId, clock }: Omit<AdminNeeds, "store">,
  made: NewUser,
  passwordHash: string | null,
): Promise<string> => {
  const id = newId();
  const email = made.email.trim();
  if (!z.email().safeParse(email).success) {
    throw new Problem("invalid_request", `${email} is no e-mail address.`);
  }
  await insertAll(tx, "users", [
    {
      id,
      email,
      email_folded: fold(email),
      password_hash: passwordHash,
      first_name: made.firstName,
      last_name: made.lastName,
      default_language: "en",
      time_zone: "UTC",
      default_tenant_id: made.tenantId,
      last_login_at: null,
      last_login_method: null,
      created_at: clock(),
    },
  ]);
  await addMember(tx, clock(), made.tenantId, id, await findRoleIds(tx, made.tenantId, made.roles));
  return id;
};

const addMember = async (
  tx: Db,
  now: number,
  tenantId: string,
  userId: string,
  roles: readonly string[],
): Promise<void> => {
  await insertAll(tx, "memberships", [
    {
      tenant_id: tenantId,
      user_id: userId,
      status: "Active",
      profile: "{}",
      added_at: now,
    },
  ]);
  await replaceMemberRoles(tx, tenantId, userId, roles);
};

/** Adds an existing user to a tenant. @throws {Problem} conflict, where the user is a member */
const joinTenant = async (
  tx: Db,
  now: number,
  { tenantId, roles }: NewUser,
  { id, email }: { id: string; email: string },
): Promise<void> => {
  if ((await findMembership(tx, tenantId, id)) !== undefined) {
    throw new Problem("conflict", `${email} belongs to the tenant already.`);
  }
  await addMember(tx, now, tenantId, id, await findRoleIds(tx, tenantId, roles));
};

const describeChange = (
  action: CommandChange["action"],
  { tenantId, userId, roles, status }: UserRecord,
): CommandChange => ({
  tenantId,
  action,
  resourceId: userId,
  metadata: { roles: roles.join(", "), status },
});

/** Adds a user to a tenant. A known e-mail address keeps its password, so `readPassword` is not called. */
export const createUser = async (
  needs: AdminNeeds,
  made: NewUser,
  readPassword: () => Promise<string>,
): Promise<CreatedUser> => {
  const { store, clock } = needs;
  await checkTenantExists(store.read, made.tenantId);
  if (made.roles.length === 0) throw new Problem("invalid_request", "Name at least one role.");
  const known = await findUserByEmail(store.read, made.email.trim());
  let hash: string | null = null;
  if (known === undefined) {
    const password = await readPassword();
    await checkNewPassword(password);
    hash = await hashPassword(password);
  }
  return store.transaction(async (tx) => {
    const existing = await findUserByEmail(tx, made.email.trim());
    if (existing === undefined) await insertUser(tx, needs, made, hash);
    else await joinTenant(tx, clock(), made, existing);
    const user = await readRecord(tx, made.tenantId, made.email.trim());
    await needs.record?.(tx, describeChange("admin.user_created", user));
    return { ...user, password: existing === undefined ? "set" : "kept" };
  });
};

/** Replaces a member's roles and sets their status; absent values stay unchanged. */
export const updateUser = (
  { store, record }: Pick<AdminNeeds, "store" | "record">,
  change: {
    tenantId: string;
    email: string;
    roles?: readonly string[] | undefined;
    status?: "Active" | "Inactive" | undefined;
  },
): Promise<UserRecord> =>
  store.transaction(async (tx) => {
    const { tenantId, email, roles, status } = change;
    await checkTenantExists(tx, tenantId);
    const { userId } = await readRecord(tx, tenantId, email);
    if (roles !== undefined && roles.length > 0) {
      await replaceMemberRoles(tx, tenantId, userId, await findRoleIds(tx, tenantId, roles));
    }
    if (status !== undefined) await updateMembership(tx, tenantId, userId, { status });
    const user = await readRecord(tx, tenantId, email);
    await record?.(tx, describeChange("admin.user_changed", user));
    return user;
  });
