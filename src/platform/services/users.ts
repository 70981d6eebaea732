import type { Contract } from "../../contract/index.ts";
import type { User, UserV1 } from "../../contract/operations/users.ts";
import { formatIfAny, formatTimestamp } from "../../kit/clock.ts";
import type { Handlers } from "../handlers.ts";
import type { Db } from "../store/port.ts";
import { findClient, readClientRole } from "../store/queries/clients.ts";
import { selectTenant } from "../store/queries/tenants.ts";
import {
  listActiveTenants,
  listMemberRoles,
  listMembers,
  listMemberships,
  type MemberRole,
} from "../store/queries/users.ts";
import type { ClientRow } from "../store/tables/schema.ts";
import { toTenantAccess } from "./auth.ts";

type Member = Awaited<ReturnType<typeof listMembers>>[number];

/** The texts of a member's profile. */
export const PROFILE_KEYS = [
  "division",
  "department",
  "title",
  "region",
  "mobilePhone",
  "faxNumber",
  "address",
  "officePhone",
] as const;

const toProfile = (member: Member) => {
  const stored = JSON.parse(member.profile) as Record<string, string | undefined>;
  const texts = Object.fromEntries(PROFILE_KEYS.map((key) => [key, stored[key] ?? null]));
  return {
    ...(texts as Record<(typeof PROFILE_KEYS)[number], string | null>),
    lastLogin: formatIfAny(member.last_login_at),
    lastLoginMethod: member.last_login_method,
  };
};

const toCommonFields = (member: Member, tenantIds: string[]) => ({
  userId: member.id,
  firstName: member.first_name,
  lastName: member.last_name,
  defaultLanguage: member.default_language,
  status: member.status,
  email: member.email,
  timeZone: member.time_zone,
  timeZoneDateFormat: "YYYY-MM-DD",
  timeZoneTimeFormat: "HH:mm",
  timeZoneDateTimeDelimiter: " ",
  tenantIds,
  groupIds: [],
  aliasUserIds: [],
  lastLogin: formatIfAny(member.last_login_at),
  createdDate: formatTimestamp(member.created_at),
  lastAccessTokenSource: member.last_login_method,
  // Null where the default tenant is not in `tenantIds`, so that it is not disclosed.
  defaultTenantId: tenantIds.find((id) => id === member.default_tenant_id) ?? null,
});

const toUser = (member: Member, tenantIds: string[], roles: MemberRole[]): User => ({
  ...toCommonFields(member, tenantIds),
  associatedTags: [],
  userTenantProfile: {
    ...toProfile(member),
    username: member.email,
    addedAt: formatTimestamp(member.added_at),
    roles: roles.map((role) => ({
      roleId: role.roleId,
      roleName: role.name,
      type: role.custom ? 1 : 0,
      applicationId: null,
    })),
  },
});

const toUserV1 = (member: Member, tenantIds: string[], roles: MemberRole[]): UserV1 => ({
  ...toCommonFields(member, tenantIds),
  // Built-in roles come highest first, custom ones before all of them.
  role: (roles.find((role) => !role.custom) ?? roles[0])?.name ?? "",
  userTenantProfile: toProfile(member),
});

type Shape<T> = (member: Member, tenantIds: string[], roles: MemberRole[]) => T;

/** Lists the tenant's members in one of the two shapes. Other tenants of a member are not disclosed. */
const listAs = async <T>(db: Db, tenantId: string, shape: Shape<T>): Promise<T[]> => {
  const members = await listMembers(db, tenantId);
  const roles = Map.groupBy(await listMemberRoles(db, tenantId), (role) => role.userId);
  return members.map((member) => shape(member, [tenantId], roles.get(member.id) ?? []));
};

/** Returns the profile of a client: that of a member of its tenant alone, without an e-mail address. */
const toClientProfile = async (db: Db, client: ClientRow) => {
  const { id, name, tenant_id: tenantId, created_at } = client;
  const tenant = await selectTenant(db, tenantId).executeTakeFirstOrThrow();
  const member: Member = {
    id,
    email: "",
    email_folded: "",
    password_hash: null,
    first_name: name,
    last_name: "",
    default_language: "en",
    time_zone: toTenantAccess(tenant).timeZone,
    default_tenant_id: tenantId,
    last_login_at: null,
    last_login_method: null,
    created_at,
    status: "Active",
    profile: "{}",
    added_at: created_at,
  };
  const roles = [await readClientRole(db, client)];
  return { ...toUserV1(member, [tenantId], roles), tenants: [toTenantAccess(tenant)] };
};

export const users = (): Handlers<Contract["users"]> => ({
  list: async (_input, call) => ({ body: await listAs(call.db, call.tenantId, toUser) }),
  list_v1: async (_input, call) => ({ body: await listAs(call.db, call.tenantId, toUserV1) }),
  async profile(_input, call) {
    const client = await findClient(call.db, call.caller.id);
    if (client !== undefined) return { body: await toClientProfile(call.db, client) };
    const tenants = await listActiveTenants(call.db, call.caller.id);
    const members = await listMembers(call.db, call.tenantId);
    const member = members.find(({ id }) => id === call.caller.id);
    if (member === undefined) return call.fail("not_found", "The user is gone.");
    const roles = (await listMemberRoles(call.db, call.tenantId)).filter(
      (role) => role.userId === member.id,
    );
    const mine = await listMemberships(call.db, [member.id]);
    const tenantIds = mine.map((row) => row.tenant_id);
    return {
      body: { ...toUserV1(member, tenantIds, roles), tenants: tenants.map(toTenantAccess) },
    };
  },
});
