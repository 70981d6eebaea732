import { insertAll } from "../engine/bulk-writes.ts";
import type { Db } from "../port.ts";
import type { MembershipRow } from "../tables/schema.ts";
import { changeRows, removeRows, rowsOfTenant } from "../engine/rows.ts";

export const findMembership = (db: Db, tenantId: string, userId: string) =>
  rowsOfTenant(db, "memberships", tenantId).where("user_id", "=", userId).executeTakeFirst();

export const updateMembership = (
  tx: Db,
  tenantId: string,
  userId: string,
  change: Partial<Pick<MembershipRow, "status" | "profile">>,
) => changeRows(tx, "memberships", { tenant_id: tenantId, user_id: userId }, change);

/** Gives a member these roles in place of the present ones. */
export const replaceMemberRoles = async (
  tx: Db,
  tenantId: string,
  userId: string,
  ids: readonly string[],
): Promise<void> => {
  await removeRows(tx, "membership_roles", { tenant_id: tenantId, user_id: userId });
  const rows = [...new Set(ids)].map((id) => ({
    tenant_id: tenantId,
    user_id: userId,
    role_id: id,
  }));
  await insertAll(tx, "membership_roles", rows);
};

/** Removes a user from a tenant, with roles and API keys. */
export const removeMember = async (tx: Db, tenantId: string, userId: string): Promise<void> => {
  for (const table of ["membership_roles", "memberships", "api_keys"] as const) {
    await removeRows(tx, table, { tenant_id: tenantId, user_id: userId });
  }
};

/** Removes the first `most` memberships of a tenant; returns the users, and whether they belong to other tenants. */
export const removeMemberships = async (
  tx: Db,
  tenantId: string,
  most: number,
): Promise<{ userId: string; hasOthers: boolean }[]> => {
  const members = await tx
    .selectFrom("memberships as mine")
    .select((of) => [
      "mine.user_id",
      of
        .selectFrom("memberships as other")
        .select((other) => other.fn.countAll<number | string>().as("count"))
        .whereRef("other.user_id", "=", "mine.user_id")
        .as("count"),
    ])
    .where("mine.tenant_id", "=", tenantId)
    .limit(most)
    .execute();
  for (const { user_id } of members) {
    await removeRows(tx, "memberships", { tenant_id: tenantId, user_id });
  }
  return members.map(({ user_id, count }) => ({ userId: user_id, hasOthers: Number(count) > 1 }));
};
