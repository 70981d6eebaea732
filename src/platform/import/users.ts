import { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import { Email, requiredText, text } from "../../contract/fields.ts";
import { LanguageCode } from "../../contract/ingest-fields.ts";
import { BUILT_IN_ROLES } from "../../contract/permissions.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { isRecord } from "../../kit/json.ts";
import { findTimeZone } from "../../kit/time-zone.ts";
import { checkCode, checkValue } from "../services/ingest/body.ts";
import { PROFILE_KEYS } from "../services/users.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { fold } from "../store/engine/fold.ts";
import type { Db } from "../store/port.ts";
import { listCustomRoles } from "../store/queries/roles.ts";
import { findUsersByEmail, listMemberRoles, listMembers } from "../store/queries/users.ts";
import type { MembershipRow, UserRow } from "../store/tables/schema.ts";
import { collectFields } from "./fields.ts";
import { findTimeFaults, SourceTimestamp } from "./source-values.ts";
import type { Form, Outcome, Target } from "./target.ts";

const SEPARATOR = ";";

/** Converts names of roles in one text, or roles as the API lists them, to a list of names. */
const toRoleNames = (value: unknown): unknown => {
  if (typeof value === "string") {
    return value.split(SEPARATOR).flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  }
  if (!Array.isArray(value)) return value;
  return value.map((role: unknown) => (isRecord(role) ? role["roleName"] : role));
};

const RoleNames = z.preprocess(toRoleNames, z.array(requiredText(200)));

const profileTexts = Object.fromEntries(
  PROFILE_KEYS.map((key) => [key, text(200).nullish()]),
) as Record<(typeof PROFILE_KEYS)[number], z.ZodOptional<z.ZodNullable<z.ZodString>>>;

/** A user in an import file, with the fields of the lists of users. */
const UserValues = z.object({
  email: Email,
  firstName: requiredText(200),
  lastName: requiredText(200),
  role: RoleNames.optional(),
  roles: RoleNames.optional(),
  status: z.enum(["Active", "Inactive", "Locked", "Pending"]).optional(),
  defaultLanguage: LanguageCode.optional(),
  timeZone: text(64).optional(),
  createdDate: SourceTimestamp.optional(),
  userTenantProfile: z
    .object({
      ...profileTexts,
      addedAt: SourceTimestamp.optional(),
      roles: RoleNames.optional(),
    })
    .optional(),
});
type UserValues = z.output<typeof UserValues>;

const ONE_ROLE = { required: "roles" } as const;

const checkPlace = ({ defaultLanguage, timeZone }: Record<string, unknown>): Fault[] => [
  ...checkCode("language", "defaultLanguage", defaultLanguage),
  ...(typeof timeZone !== "string" || findTimeZone(timeZone) !== undefined
    ? []
    : [{ field: "timeZone", code: "enum", message: "must be an IANA name such as Europe/Berlin" }]),
];

/** The form of a user's row. */
export const USER_FORM: Form<UserValues> = {
  fields: collectFields(UserValues, {
    email: { role: "key", required: "email" },
    role: ONE_ROLE,
    roles: ONE_ROLE,
    "userTenantProfile.roles": ONE_ROLE,
    createdDate: { role: "day" },
    "userTenantProfile.addedAt": { role: "day" },
  }),
  parse: (record) => checkValue(UserValues, record, checkPlace),
};

type Needs = { tenantId: string; clock: Clock; newId: NewId };

/** A user of the tenant, with the ids of the roles in order. */
type Member = { userId: string; status: MembershipRow["status"]; roles: string };

const joinRoles = (ids: readonly string[]): string => ids.toSorted().join(" ");

/** One batch of rows to write in one transaction. */
type Batch = Needs & {
  now: number;
  /** Ids of the tenant's roles by folded name. */
  roles: ReadonlyMap<string, string>;
  roleNames: string;
  /** Users of the store and members of the tenant, by folded e-mail address. */
  users: Map<string, string>;
  members: Map<string, Member>;
  newUsers: UserRow[];
  /** New memberships; an undo compares their roles, too. */
  newMembers: (MembershipRow & { roles: string })[];
};

const openBatch = async (needs: Needs, tx: Db, emails: readonly string[]): Promise<Batch> => {
  const { tenantId, clock } = needs;
  const named = [
    ...BUILT_IN_ROLES.map(({ roleId, name }) => ({ id: roleId, name })),
    ...(await listCustomRoles(tx, tenantId)),
  ];
  const users = await findUsersByEmail(tx, emails);
  const held = Map.groupBy(await listMemberRoles(tx, tenantId), ({ userId }) => userId);
  const members = (await listMembers(tx, tenantId)).map((row): [string, Member] => {
    const roles = joinRoles((held.get(row.id) ?? []).map(({ roleId }) => roleId));
    return [row.email_folded, { userId: row.id, status: row.status, roles }];
  });
  return {
    ...needs,
    now: clock(),
    roles: new Map(named.map(({ id, name }) => [fold(name), id])),
    roleNames: named.map(({ name }) => name).join(", "),
    users: new Map(users.map((row) => [row.email_folded, row.id])),
    members: new Map(members),
    newUsers: [],
    newMembers: [],
  };
};

type Roles = { ids: string[]; faults: Fault[] };

/** Finds the roles of a row, which has them in one field or several. */
const findRoles = ({ role, roles, userTenantProfile }: UserValues, batch: Batch): Roles => {
  const given = { role, roles, "userTenantProfile.roles": userTenantProfile?.roles };
  const ids = new Set<string>();
  const faults: Fault[] = [];
  for (const [field, names = []] of Object.entries(given)) {
    for (const name of names) {
      const id = batch.roles.get(fold(name.trim()));
      const message = `names no role of the tenant, which has ${batch.roleNames}`;
      if (id === undefined) faults.push({ field, code: "unknown_reference", message });
      else ids.add(id);
    }
  }
  if (ids.size > 0 || faults.length > 0) return { ids: [...ids], faults };
  const message = `is required; the tenant has ${batch.roleNames}`;
  const field = role === undefined && roles === undefined ? "roles" : "role";
  return { ids: [], faults: [{ field, code: "required", message }] };
};

const findLate = ({ createdDate, userTenantProfile }: UserValues, now: number): Fault[] => [
  ...findTimeFaults({ createdDate }, ["createdDate"], now),
  ...findTimeFaults(
    { "userTenantProfile.addedAt": userTenantProfile?.addedAt },
    ["userTenantProfile.addedAt"],
    now,
  ),
];

const toTime = (value: string | undefined, otherwise: number): number =>
  value === undefined ? otherwise : Date.parse(value);

const toUserRow = (values: UserValues, id: string, { tenantId, now }: Batch): UserRow => ({
  id,
  email: values.email,
  email_folded: fold(values.email),
  password_hash: null,
  first_name: values.firstName,
  last_name: values.lastName,
  default_language: values.defaultLanguage ?? "en",
  time_zone: findTimeZone(values.timeZone ?? "UTC")?.name ?? "UTC",
  default_tenant_id: tenantId,
  last_login_at: null,
  last_login_method: null,
  created_at: toTime(values.createdDate, now),
});

const toProfile = ({ userTenantProfile = {} }: UserValues): string =>
  JSON.stringify(
    Object.fromEntries(
      PROFILE_KEYS.flatMap((key) => {
        const value = userTenantProfile[key];
        return value == null ? [] : [[key, value]];
      }),
    ),
  );

/** Adds a member, and the user unless the store has one with the e-mail address, who keeps name and password. */
const addMember = (values: UserValues, roleIds: readonly string[], batch: Batch): void => {
  const { tenantId, users, members, newId, now } = batch;
  const email = fold(values.email);
  const known = users.get(email);
  const userId = known ?? newId();
  if (known === undefined) batch.newUsers.push(toUserRow(values, userId, batch));
  const { status = "Active", createdDate, userTenantProfile } = values;
  const roles = joinRoles(roleIds);
  batch.newMembers.push({
    tenant_id: tenantId,
    user_id: userId,
    status,
    profile: toProfile(values),
    added_at: toTime(userTenantProfile?.addedAt ?? createdDate, now),
    roles,
  });
  users.set(email, userId);
  members.set(email, { userId, status, roles });
};

/** A member is never changed by an import: a file of last year gives no rights back. */
const writeRow = (values: UserValues, batch: Batch): Outcome => {
  const { ids, faults } = findRoles(values, batch);
  const all = [...faults, ...findLate(values, batch.now)];
  if (all.length > 0) return all;
  const member = batch.members.get(fold(values.email));
  if (member === undefined) {
    addMember(values, ids, batch);
    return "written";
  }
  const isSame =
    member.roles === joinRoles(ids) && (values.status ?? member.status) === member.status;
  if (isSame) return "unchanged";
  const message =
    "belongs to the tenant already with other roles or another status; change them with admin user update";
  return [{ field: "email", code: "conflict", message }];
};

/**
 * Creates the import target of users: a row adds the user with its e-mail address to the tenant. A new user has no
 * password; the journal names those, so that they get a link with which they set one.
 */
export const createUserTarget = (needs: Needs): Target<UserValues> => ({
  kind: "users",
  ...USER_FORM,
  batchRows: 500,
  identify: ({ values }) => ({
    field: "email",
    key: fold(values.email),
    facts: [JSON.stringify({ ...values, email: fold(values.email) })],
  }),
  async write(tx, rows, journal) {
    const { tenantId } = needs;
    const emails = new Set(rows.map(({ values }) => fold(values.email)));
    const batch = await openBatch(needs, tx, [...emails]);
    const outcomes = rows.map(({ values }) => writeRow(values, batch));
    const { newUsers, newMembers } = batch;
    await insertAll(tx, "users", newUsers);
    await insertAll(
      tx,
      "memberships",
      newMembers.map(({ roles: _roles, ...row }) => row),
    );
    await insertAll(
      tx,
      "membership_roles",
      newMembers.flatMap(({ user_id, roles }) =>
        roles.split(" ").map((role_id) => ({ tenant_id: tenantId, user_id, role_id })),
      ),
    );
    journal.created("memberships", newMembers);
    for (const { email } of newUsers) journal.invite(email);
    return outcomes;
  },
});
