import { formatTimestamp } from "../../kit/clock.ts";
import { toPerson } from "../services/person.ts";
import { findAssigneesOfPerson } from "../store/queries/assignees.ts";
import type { Db, Snapshot } from "../store/port.ts";
import type { UserRow } from "../store/tables/schema.ts";
import { listMemberRoles } from "../store/queries/users.ts";
import { readUser, type UserName } from "./passwords.ts";
import type { AdminNeeds } from "./tenants.ts";

const toTime = (at: number | null): string | null => (at === null ? null : formatTimestamp(at));

const collect = async <Row, Item>(
  rows: AsyncIterable<Row>,
  toItem: (row: Row) => Item,
): Promise<Item[]> => {
  const items: Item[] = [];
  for await (const row of rows) items.push(toItem(row));
  return items;
};

const exportCredentials = async (db: Db, userId: string) => {
  const sessions = await db
    .selectFrom("sessions")
    .select(["created_at", "used_at"])
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .execute();
  const apiKeys = await db
    .selectFrom("api_keys")
    .select(["id", "prefix", "tenant_id", "created_at", "used_at"])
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .execute();
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
const exportNotes = async ({ db, stream }: Snapshot, tenantId: string, userId: string) => {
  const ofDisputes = db
    .selectFrom("dispute_notes")
    .select(["id", "dispute_id", "content", "created_at"])
    .where("tenant_id", "=", tenantId)
    .where("created_by", "=", userId)
    .orderBy("created_at");
  const ofAccounts = db
    .selectFrom("account_notes")
    .select(["reference", "account_number", "body", "created_at"])
    .where("tenant_id", "=", tenantId)
    .where("created_by", "=", userId)
    .orderBy("created_at");
  return {
    disputeNotes: await collect(stream(ofDisputes), (row) => ({
      noteId: row.id,
      disputeId: row.dispute_id,
      content: row.content,
      createdAt: formatTimestamp(row.created_at),
    })),
    accountNotes: await collect(stream(ofAccounts), (row) => ({
      reference: row.reference,
      accountNumber: row.account_number,
      body: row.body,
      createdAt: formatTimestamp(row.created_at),
    })),
  };
};

/** The audit entries whose metadata name the person. */
const exportAuditEntries = ({ db, stream }: Snapshot, tenantId: string, userId: string) =>
  collect(
    stream(
      db
        .selectFrom("audit_logs")
        .select(["id", "at", "action", "method", "endpoint", "status_code", "metadata"])
        .where("tenant_id", "=", tenantId)
        .where("metadata", "like", `%"${userId}"%`)
        .orderBy("seq"),
    ),
    (row) => ({
      id: row.id,
      timestamp: formatTimestamp(row.at),
      action: row.action,
      method: row.method,
      endpoint: row.endpoint,
      statusCode: row.status_code,
      metadata: JSON.parse(row.metadata) as unknown,
    }),
  );

const exportAssignees = async ({ db }: Snapshot, tenantId: string, user: UserRow) => {
  const rows = await findAssigneesOfPerson(db, tenantId, user);
  return Promise.all(
    rows.map(async (row) => {
      const disputes = await db
        .selectFrom("disputes")
        .select("code")
        .where("tenant_id", "=", tenantId)
        .where("assignee_id", "=", row.id)
        .orderBy("created_at")
        .execute();
      return {
        assigneeId: row.id,
        active: row.active === 1,
        person: toPerson(row),
        disputes: disputes.map(({ code }) => code),
      };
    }),
  );
};

const exportMembership = async (view: Snapshot, tenantId: string, user: UserRow) => {
  const { db } = view;
  const member = await db
    .selectFrom("memberships")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("user_id", "=", user.id)
    .executeTakeFirst();
  const roles = (await listMemberRoles(db, tenantId)).filter((role) => role.userId === user.id);
  return {
    tenantId,
    status: member?.status ?? null,
    addedAt: toTime(member?.added_at ?? null),
    profile: JSON.parse(member?.profile ?? "{}") as unknown,
    roles: roles.map(({ name }) => name),
    assignees: await exportAssignees(view, tenantId, user),
    ...(await exportNotes(view, tenantId, user.id)),
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
    lastLogin: toTime(user.last_login_at),
    hasPassword: user.password_hash !== null,
    ...(await exportCredentials(view.db, user.id)),
    tenants,
  };
};
