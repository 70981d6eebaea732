import { z } from "zod";
import { text, Timestamp } from "../fields.ts";
import { defineOperations, type Outcome } from "../operation.ts";

export const TenantAccess = z.object({
  tenantId: z.string(),
  tenantName: z.string(),
  isPartner: z.boolean(),
  testTenantId: z.string().nullable(),
  timeZone: z
    .string()
    .optional()
    .meta({ description: "zone of the tenant's days, such as Europe/Berlin (extension)" }),
});

export const Login = z.object({
  status: z.literal("LOGIN_SUCCESS"),
  userId: z.string(),
  email: z.string(),
  accessToken: z.string(),
  expiresIn: z.int().meta({ description: "lifetime in seconds" }),
  createdDate: Timestamp,
  tenants: z.array(TenantAccess),
  defaultTenantId: z.string().nullable(),
});

const TokenBody = z.object({ accessToken: text(1024).min(1) });

export const auth = defineOperations("gateway", "auth", {
  login: {
    method: "POST",
    path: "/authentication/v1/login",
    access: "public",
    effect: "session",
    session: "opens",
    summary: "Log in and open a session.",
    body: z.object({ email: text(254).trim().min(1), password: text(1024).min(1) }),
    output: Login,
    errors: ["invalid_credentials"],
    audit: {
      actions: ["auth.logged_in", "auth.login_failed"],
      choose: ({ status }: Outcome) => (status === 200 ? "auth.logged_in" : "auth.login_failed"),
    },
  },
  verify_session: {
    method: "POST",
    path: "/authentication/v1/verify-session",
    access: "public",
    effect: "session",
    session: "verifies",
    summary: "Check a session and extend it.",
    body: TokenBody,
    output: z.object({
      verified: z.boolean(),
      status: z.enum(["ACCESSTOKEN_VERIFIED", "ACCESSTOKEN_INVALID", "ACCESSTOKEN_EXPIRED"]),
    }),
    audit: "auth.verified",
  },
  logout: {
    method: "POST",
    path: "/authentication/v1/logout",
    access: "public",
    effect: "session",
    session: "closes",
    summary: "Log out and close the session.",
    body: TokenBody,
    output: z.object({ status: z.literal("LOGOUT_SUCCESS") }),
    audit: "auth.logged_out",
  },
});
