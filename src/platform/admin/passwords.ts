import { Problem } from "../../contract/errors.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { trimEndOf } from "../../kit/text.ts";
import { checkNewPassword, hashPassword } from "../passwords.ts";
import { RESET_PATH, type ResetTokens } from "../reset-tokens.ts";
import type { UserRow } from "../store/tables/schema.ts";
import type { Db } from "../store/port.ts";
import { findUserByEmail, listMemberships, replacePassword } from "../store/queries/users.ts";
import type { CommandChange } from "./changes.ts";
import type { AdminNeeds } from "./tenants.ts";

/** A user by e-mail address; with `tenantId`, only if the user belongs to that tenant. */
export type UserName = { email: string; tenantId?: string | undefined };

/** Finds a user and the user's tenants. @throws {Problem} not_found */
export const readUser = async (
  db: Db,
  { email, tenantId }: UserName,
): Promise<{ user: UserRow; tenantIds: string[] }> => {
  const user = await findUserByEmail(db, email.trim());
  const tenantIds =
    user === undefined ? [] : (await listMemberships(db, [user.id])).map((row) => row.tenant_id);
  if (user === undefined || (tenantId !== undefined && !tenantIds.includes(tenantId))) {
    const place = tenantId === undefined ? "" : ` in the tenant ${tenantId}`;
    throw new Problem("not_found", `There is no user ${email}${place}.`);
  }
  return { user, tenantIds };
};

/** Writes one entry to the log of each of a user's tenants. */
export const recordForTenants = async (
  tx: Db,
  { record }: Pick<AdminNeeds, "record">,
  tenantIds: readonly string[],
  change: Omit<CommandChange, "tenantId">,
): Promise<void> => {
  for (const tenantId of tenantIds.toSorted()) {
    await record?.(tx, { tenantId, ...change });
  }
};

/** Sets a user's password. Ends the user's sessions and API keys, and with these what connected programs may do. */
export const setPassword = async (
  needs: AdminNeeds,
  name: UserName,
  readPassword: () => Promise<string>,
) => {
  const { store } = needs;
  await readUser(store.read, name);
  const password = await readPassword();
  await checkNewPassword(password);
  const hash = await hashPassword(password);
  return store.transaction(async (tx) => {
    const { user, tenantIds } = await readUser(tx, name);
    const ended = await replacePassword(tx, user, hash);
    if (ended === undefined) throw new Problem("conflict", "The password has just been changed.");
    const action = "admin.user_password_set";
    await recordForTenants(tx, needs, tenantIds, { action, resourceId: user.id });
    const { id: userId, email } = user;
    return { userId, email, sessionsEnded: ended.sessions, apiKeysRemoved: ended.apiKeys };
  });
};

/** Creates a link to the page on which a person sets a new password, for 30 minutes or `lifetime` milliseconds. */
export const createResetLink = (
  needs: AdminNeeds & { tokens: ResetTokens },
  name: UserName,
  publicUrl: string,
  lifetime?: number,
) =>
  needs.store.transaction(async (tx) => {
    const { user, tenantIds } = await readUser(tx, name);
    const { token, expiresAt } = needs.tokens.issue(user, lifetime);
    const action = "admin.user_reset_link_created";
    await recordForTenants(tx, needs, tenantIds, { action, resourceId: user.id });
    return {
      userId: user.id,
      email: user.email,
      link: trimEndOf(publicUrl, "/") + RESET_PATH + token,
      expiresAt: formatTimestamp(expiresAt),
    };
  });
