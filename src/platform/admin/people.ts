import { formatIfAny, formatTimestamp } from "../../kit/clock.ts";
import { findAssigneesOfPerson, updateAssignee } from "../store/queries/assignees.ts";
import { removeDefaultAssignee } from "../store/queries/categories.ts";
import { replaceAuthor } from "../store/queries/dispute-notes.ts";
import { removeAnswersTo } from "../store/queries/idempotency-keys.ts";
import { listSourceRows, updateImported } from "../store/queries/imported-disputes.ts";
import { removeMember } from "../store/queries/memberships.ts";
import { listAllTenants } from "../store/queries/tenants.ts";
import { fold } from "../store/engine/fold.ts";
import type { Db, Store } from "../store/port.ts";
import type { AssigneeRow, UserRow } from "../store/tables/schema.ts";
import { listMemberRoles, listMembers, removeUser } from "../store/queries/users.ts";
import { changeFields } from "../services/records.ts";
import { checkConfirmed } from "./confirm.ts";
import { OPERATOR } from "./changes.ts";
import { readUser, recordForTenants, type UserName } from "./passwords.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

const listUsersOf = async (db: Db, tenantId: string) => {
  const members = await listMembers(db, tenantId);
  const roles = Map.groupBy(await listMemberRoles(db, tenantId), ({ userId }) => userId);
  return members.map((row) => ({
    userId: row.id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    tenantId,
    roles: (roles.get(row.id) ?? []).map(({ name }) => name),
    status: row.status,
    hasPassword: row.password_hash !== null,
    createdAt: formatTimestamp(row.created_at),
    lastLogin: formatIfAny(row.last_login_at),
  }));
};

/** Lists the users of one tenant or of all; a user of several tenants has one entry for each. */
export async function* listUsers({ read }: Pick<Store, "read">, tenantId: string | undefined) {
  if (tenantId !== undefined) await checkTenantExists(read, tenantId);
  const tenants = tenantId === undefined ? await listAllTenants(read) : [{ id: tenantId }];
  for (const { id } of tenants) yield* await listUsersOf(read, id);
}

const ROWS_AT_ONCE = 200;

/** Removes the person's address from what imports remember of the rows of a tenant's disputes. */
const forgetImportedAddress = async (store: Store, tenantId: string, { email }: UserRow) => {
  const isTheirs = (row: { assigneeEmail?: unknown }): boolean =>
    typeof row.assigneeEmail === "string" && fold(row.assigneeEmail.trim()) === fold(email);
  for (let after = ""; ;) {
    // Short transactions, so that other writers get their turn.
    const rows = await listSourceRows(store.read, tenantId, after, ROWS_AT_ONCE);
    const found = rows.flatMap(({ id, source_row }) => {
      const { assigneeEmail, ...others } = JSON.parse(source_row ?? "{}") as Record<
        string,
        unknown
      >;
      return isTheirs({ assigneeEmail }) ? [{ id, source_row: JSON.stringify(others) }] : [];
    });
    if (found.length > 0) {
      await store.transaction(async (tx) => {
        for (const { id, source_row } of found) {
          await updateImported(tx, { tenant_id: tenantId, id }, { source_row });
        }
      }, tenantId);
    }
    if (rows.length < ROWS_AT_ONCE) return;
    after = rows.at(-1)?.id ?? "";
  }
};

/** Returns an assignee's record without the person, so that the disputes that name it still have an assignee. */
const toNeutral = (row: AssigneeRow, now: number): AssigneeRow => ({
  ...row,
  user_id: null,
  email: `${row.id}@deleted.invalid`,
  first_name: "Deleted",
  last_name: "user",
  person: "{}",
  active: 0,
  all_updates: 0,
  daily_digest: 0,
  ...changeFields(row, { caller: OPERATOR, now }),
});

const forgetMember = async (
  tx: Db,
  { tenantId, user, now }: { tenantId: string; user: UserRow; now: number },
): Promise<number> => {
  const rows = await findAssigneesOfPerson(tx, tenantId, user);
  for (const row of rows) {
    await updateAssignee(tx, toNeutral(row, now));
    await removeDefaultAssignee(tx, tenantId, row.id);
  }
  await removeMember(tx, tenantId, user.id);
  // Imported notes of people who were no users then have the e-mail address as author.
  await replaceAuthor(tx, tenantId, user.email_folded, user.id);
  // They contain what the person wrote.
  await removeAnswersTo(tx, tenantId, user.id);
  return rows.length;
};

/**
 * Deletes a user: from one tenant where it is named, else from all. With the last tenant the person's data is removed.
 * Records and audit entries keep the user's id, which then names no person.
 */
export const deleteUser = async (
  needs: AdminNeeds,
  { confirm, ...name }: UserName & { confirm?: string | undefined },
) => {
  const { store, clock } = needs;
  const { user, tenantIds } = await readUser(store.read, name);
  checkConfirmed([user.email], confirm);
  const chosen = name.tenantId === undefined ? tenantIds : [name.tenantId];
  // First, because it takes many short transactions: if it stops half-way, the command can run again.
  for (const tenantId of chosen) await forgetImportedAddress(store, tenantId, user);
  return store.transaction(async (tx) => {
    const { tenantIds: before } = await readUser(tx, name);
    const left = chosen.filter((tenantId) => before.includes(tenantId));
    let assigneesNeutral = 0;
    for (const tenantId of left) {
      assigneesNeutral += await forgetMember(tx, { tenantId, user, now: clock() });
    }
    const personRemoved = left.length === before.length;
    if (personRemoved) await removeUser(tx, user.id);
    const metadata = { personRemoved };
    const action = "admin.user_deleted";
    await recordForTenants(tx, needs, left, { action, resourceId: user.id, metadata });
    return { userId: user.id, deleted: true, tenantIds: left, assigneesNeutral, personRemoved };
  });
};
