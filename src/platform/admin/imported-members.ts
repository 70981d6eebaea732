import type { Value } from "../store/engine/dialect.ts";
import { findMembership, removeMember } from "../store/queries/memberships.ts";
import type { Db } from "../store/port.ts";
import { readRecord, type RecordPlace } from "../store/queries/imports.ts";
import { findUser, listMemberships, listRolesOf, removeUser } from "../store/queries/users.ts";

const MEMBERSHIPS = "memberships";

/** Reads a record as an import wrote it: a membership with the ids of its roles. */
export const readImported = async (
  tx: Db,
  place: RecordPlace,
): Promise<Record<string, Value> | undefined> => {
  const row = await readRecord(tx, place);
  if (row === undefined || place.table !== MEMBERSHIPS) return row;
  const roles = await listRolesOf(tx, place.tenantId, String(row["user_id"]));
  return { ...row, roles: roles.toSorted().join(" ") };
};

/** Returns why an imported member stays: the person may have worked since. */
export const findSignIn = async (
  tx: Db,
  { table }: RecordPlace,
  current: Record<string, Value> | undefined,
  since: number,
): Promise<string | undefined> => {
  if (table !== MEMBERSHIPS || current === undefined) return undefined;
  const user = await findUser(tx, String(current["user_id"]));
  return (user?.last_login_at ?? 0) > since ? "the person has signed in since" : undefined;
};

/** Removes a member with roles and keys; with the last tenant the user, too. */
export const removeImportedMember = async (
  tx: Db,
  tenantId: string,
  userId: string,
): Promise<void> => {
  if ((await findMembership(tx, tenantId, userId)) === undefined) return;
  await removeMember(tx, tenantId, userId);
  if ((await listMemberships(tx, [userId])).length === 0) await removeUser(tx, userId);
};
