import { formatIfAny, formatTimestamp } from "../../kit/clock.ts";
import { toPerson } from "../services/person.ts";
import { selectAccountNotesBy } from "../store/queries/account-notes.ts";
import { listApiKeys } from "../store/queries/api-keys.ts";
import { findAssigneesOfPerson } from "../store/queries/assignees.ts";
import { selectEntriesNaming } from "../store/queries/audit-logs.ts";
import { selectNotesBy } from "../store/queries/dispute-notes.ts";
import { listCodesOfAssignee } from "../store/queries/disputes.ts";
import { findMembership } from "../store/queries/memberships.ts";
import { listSessions } from "../store/queries/sessions.ts";
import type { Db, Snapshot } from "../store/port.ts";
import type { UserRow } from "../store/tables/schema.ts";
import { listMemberRoles } from "../store/queries/users.ts";
import { readUser, type UserName } from "./passwords.ts";
import type { AdminNeeds } from "./tenants.ts";

const exportCredentials = async (db: Db, userId: string) => {
  const sessions = await listSessions(db, userId);
  const apiKeys = await listApiKeys(db, userId);
  return {
    sessions: sessions.map((row) => ({
      createdAt: formatTimestamp(row.created_at),
      usedAt: formatTimestamp(row.used_at),
    })),
    apiKeys: apiKeys.map((row) => ({
      keyId: row.id,
      prefix: row.prefix,
      tenantId: row.tenant_id,
      createdAt: formatTimestamp(row.created_at),
      usedAt: formatTimestamp(row.used_at),
    })),
  };
};

/** Texts that the person wrote: notes of disputes and accounts. */
const exportNotes = async ({ db, stream }: Snapshot, tenantId: string, user: UserRow) => {
  // Imported notes of people who were no users then have the e-mail address as author.
  const authors = [user.id, user.email_folded];
  return {
    disputeNotes: await Array.fromAsync(stream(selectNotesBy(db, tenantId, authors)), (row) => ({
      noteId: row.id,
      disputeId: row.dispute_id,
      content: row.content,
      createdAt: formatTimestamp(row.created_at),
    })),
    accountNotes: await Array.fromAsync(
      stream(selectAccountNotesBy(db, tenantId, authors)),
      (row) => ({
        reference: row.reference,
        accountNumber: row.account_number,
        body: row.body,
        createdAt: formatTimestamp(row.created_at),
      }),
    ),
  };
};

/** The audit entries whose metadata name the person. */
const exportAuditEntries = ({ db, stream }: Snapshot, tenantId: string, userId: string) =>
  Array.fromAsync(stream(selectEntriesNaming(db, tenantId, userId)), (row) => ({
    id: row.id,
    timestamp: formatTimestamp(row.at),
    action: row.action,
    method: row.method,
    endpoint: row.endpoint,
    statusCode: row.status_code,
    metadata: JSON.parse(row.metadata) as unknown,
  }));

const exportAssignees = async ({ db }: Snapshot, tenantId: string, user: UserRow) => {
  const rows = await findAssigneesOfPerson(db, tenantId, user);
  return Promise.all(
    rows.map(async (row) => ({
      assigneeId: row.id,
      active: row.active === 1,
      person: toPerson(row),
      disputes: await listCodesOfAssignee(db, tenantId, row.id),
    })),
  );
};

const exportMembership = async (view: Snapshot, tenantId: string, user: UserRow) => {
  const { db } = view;
  const member = await findMembership(db, tenantId, user.id);
  const roles = (await listMemberRoles(db, tenantId)).filter((role) => role.userId === user.id);
  return {
    tenantId,
    status: member?.status ?? null,
    addedAt: formatIfAny(member?.added_at ?? null),
    profile: JSON.parse(member?.profile ?? "{}") as unknown,
    roles: roles.map(({ name }) => name),
    assignees: await exportAssignees(view, tenantId, user),
    ...(await exportNotes(view, tenantId, user)),
    auditEntries: await exportAuditEntries(view, tenantId, user.id),
  };
};

/** Returns what the store has about one person, without secrets. @throws {Problem} not_found */
export const exportUser = async (
  { store }: Pick<AdminNeeds, "store">,
  name: UserName,
): Promise<object> => {
  const { user, tenantIds } = await readUser(store.read, name);
  await using view = await store.snapshot({ owner: user.id });
  const tenants: object[] = [];
  for (const id of tenantIds) tenants.push(await exportMembership(view, id, user));
  return {
    userId: user.id,
    email: user.email,
    firstName: user.first_name,
    lastName: user.last_name,
    language: user.default_language,
    timeZone: user.time_zone,
    createdAt: formatTimestamp(user.created_at),
    lastLogin: formatIfAny(user.last_login_at),
    hasPassword: user.password_hash !== null,
    ...(await exportCredentials(view.db, user.id)),
    tenants,
  };
};
