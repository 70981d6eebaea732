import { z } from "zod";
import { tenantPath, Timestamp } from "../fields.ts";
import { defineOperations } from "../operation.ts";
import { TenantAccess } from "./auth.ts";

const text = z.string().nullable();
const strings = z.array(z.string());

const ProfileV1 = z.object({
  division: text,
  department: text,
  title: text,
  region: text,
  mobilePhone: text,
  faxNumber: text,
  address: text,
  officePhone: text,
  lastLogin: Timestamp.nullable(),
  lastLoginMethod: text,
});

const UserRole = z.object({
  roleId: z.string(),
  roleName: z.string(),
  type: z.int().meta({ description: "0: built in, 1: custom" }),
  applicationId: z.string().nullable(),
});

const common = {
  userId: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  defaultLanguage: z.string(),
  status: z.string().meta({ description: "Active, Inactive, Locked or Pending" }),
  email: z.string(),
  timeZone: z.string(),
  timeZoneDateFormat: z.string(),
  timeZoneTimeFormat: z.string(),
  timeZoneDateTimeDelimiter: z.string(),
  tenantIds: strings,
  groupIds: strings,
  aliasUserIds: strings,
  lastLogin: Timestamp.nullable(),
  createdDate: Timestamp,
  lastAccessTokenSource: text,
  defaultTenantId: z.string().nullable(),
};

export const User = z.object({
  ...common,
  associatedTags: strings,
  userTenantProfile: ProfileV1.extend({
    username: z.string(),
    addedAt: Timestamp,
    roles: z.array(UserRole),
  }),
});
export type User = z.infer<typeof User>;

export const UserV1 = z.object({ ...common, role: z.string(), userTenantProfile: ProfileV1 });
export type UserV1 = z.infer<typeof UserV1>;

const list = { defaultFields: ["userId", "firstName", "lastName", "email", "status"] };

export const users = defineOperations("gateway", "users", {
  list: {
    method: "GET",
    path: "/user/v3/tenants/{tenantId}/users",
    access: "User Management : READ",
    summary: "List the tenant's users with their roles.",
    params: z.object(tenantPath),
    output: z.array(User),
    list,
    audit: "user.listed",
  },
  list_v1: {
    method: "GET",
    path: "/user/v1/tenants/{tenantId}/users",
    access: "User Management : READ",
    summary: "List the tenant's users in the v1 format, with one role each.",
    params: z.object(tenantPath),
    output: z.array(UserV1),
    list,
    audit: "user.listed",
  },
  profile: {
    method: "GET",
    path: "/user/v1/users/profile",
    access: "caller",
    summary: "Get the caller's user profile and tenants.",
    output: UserV1.extend({ tenants: z.array(TenantAccess) }),
    audit: "profile.read",
  },
});
