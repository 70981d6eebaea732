import type { Contract } from "../../contract/index.ts";
import { iso, MINUTE, SECOND } from "../../kit/clock.ts";
import { type NewId, randomToken } from "../../kit/ids.ts";
import { hashSecret, type Lifetimes, sessionLives, type Uses } from "../credentials.ts";
import type { Call, Handlers } from "../handlers.ts";
import { passwordMatches } from "../passwords.ts";
import { count, findCounter, forget } from "../store/counters.ts";
import { fold } from "../store/fold.ts";
import type { Db, Store } from "../store/port.ts";
import type { TenantRow } from "../store/tables.ts";
import { activeTenants, findUser, findUserByEmail, homeTenant } from "../store/users.ts";

const FAILURES_ALLOWED = 10;
const FAILURE_WINDOW_MS = 15 * MINUTE;

type Needs = { store: Store; newId: NewId; uses: Uses; lifetimes: Lifetimes };

export const tenantAccess = (tenant: TenantRow) => ({
  tenantId: tenant.id,
  tenantName: tenant.name,
  isPartner: tenant.is_partner === 1,
  testTenantId: tenant.test_tenant_id,
});

const findSession = (db: Db, token: string) =>
  db
    .selectFrom("sessions")
    .selectAll()
    .where("token_hash", "=", hashSecret(token))
    .executeTakeFirst();

const homeTenantOf = async (db: Db, userId: string): Promise<string | undefined> => {
  const user = await findUser(db, userId);
  return (user && homeTenant(user, await activeTenants(db, userId))) ?? undefined;
};

const VERIFIED = { verified: true, status: "ACCESSTOKEN_VERIFIED" } as const;
const INVALID = { verified: false, status: "ACCESSTOKEN_INVALID" } as const;
const EXPIRED = { verified: false, status: "ACCESSTOKEN_EXPIRED" } as const;
const LOGGED_OUT = { status: "LOGOUT_SUCCESS" } as const;

const throttle = async (
  counting: Db,
  key: string,
  call: Pick<Call, "now" | "fail">,
): Promise<void> => {
  const failures = await findCounter(counting, key, call.now);
  if (failures === undefined || failures.count < FAILURES_ALLOWED) return;
  call.fail("rate_limited", "Too many failed logins. Wait before the next one.", {
    retryAfterSeconds: Math.ceil((failures.window_ends_at - call.now) / SECOND),
  });
};

export const auth = ({ store, newId, uses, lifetimes }: Needs): Handlers<Contract["auth"]> => {
  return {
    async login({ body }, call) {
      const key = `password:${fold(body.email)}:${call.ip}`;
      await throttle(store.counting, key, call);
      const user = await findUserByEmail(call.db, body.email);
      const tenants = user === undefined ? [] : await activeTenants(call.db, user.id);
      const matches = await passwordMatches(body.password, user?.password_hash);
      if (!matches || user === undefined || tenants.length === 0) {
        await count(store.counting, key, call.now, FAILURE_WINDOW_MS);
        return call.fail("invalid_credentials", "The e-mail address or the password is wrong.");
      }
      const home = homeTenant(user, tenants);
      const accessToken = randomToken();
      await forget(store.counting, key);
      return call.change(async (tx) => {
        await tx
          .insertInto("sessions")
          .values({
            id: newId(),
            token_hash: hashSecret(accessToken),
            user_id: user.id,
            created_at: call.now,
            verified_at: call.now,
            used_at: call.now,
          })
          .execute();
        await tx
          .updateTable("users")
          .set({ last_login_at: call.now, last_login_method: "USERNAME_PASSWORD" })
          .where("id", "=", user.id)
          .execute();
        const body = {
          status: "LOGIN_SUCCESS" as const,
          userId: user.id,
          email: user.email,
          accessToken,
          expiresIn: Math.floor(lifetimes.sessionNominal / SECOND),
          createdDate: iso(call.now),
          tenants: tenants.map(tenantAccess),
          defaultTenantId: home,
        };
        return { body };
      }, home ?? undefined);
    },

    async verify_session({ body }, call) {
      const session = await findSession(call.db, body.accessToken);
      if (session === undefined) return { body: INVALID };
      const tenantId = await homeTenantOf(call.db, session.user_id);
      const audit = tenantId === undefined ? {} : { tenantId };
      const lives = (row: typeof session): boolean => {
        const used_at = Math.max(row.used_at, uses.last(row.id));
        return sessionLives({ ...row, used_at }, call.now, lifetimes);
      };
      // The last use may have been written since the session was read.
      if (!lives(session) && !lives((await findSession(call.db, body.accessToken)) ?? session)) {
        return { body: EXPIRED, audit };
      }
      if ((await activeTenants(call.db, session.user_id)).length === 0) {
        return { body: INVALID, audit };
      }
      return call.change(async (tx) => {
        await tx
          .updateTable("sessions")
          .set({ verified_at: call.now, used_at: call.now })
          .where("id", "=", session.id)
          .execute();
        return { body: VERIFIED };
      }, tenantId);
    },

    async logout({ body }, call) {
      const session = await findSession(call.db, body.accessToken);
      if (session === undefined) return { body: LOGGED_OUT };
      return call.change(
        async (tx) => {
          await tx.deleteFrom("sessions").where("id", "=", session.id).execute();
          return { body: LOGGED_OUT };
        },
        await homeTenantOf(call.db, session.user_id),
      );
    },
  };
};
