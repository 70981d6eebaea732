import { type AuditFacts, Problem } from "../../contract/errors.ts";
import type { Contract } from "../../contract/index.ts";
import { formatTimestamp, SECOND } from "../../kit/clock.ts";
import { type NewId, randomToken } from "../../kit/ids.ts";
import { hashSecret, type Lifetimes, isSessionAlive, type Uses } from "../credentials.ts";
import type { Call, Handlers } from "../handlers.ts";
import type { RateLimiter } from "../rate-limiter.ts";
import type { LoginGuard } from "../login-guard.ts";
import { matchesPassword } from "../passwords.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { isKnownAddress, recordKnownAddress } from "../store/queries/known-addresses.ts";
import { findSession, removeSession, updateSession } from "../store/queries/sessions.ts";
import type { Db } from "../store/port.ts";
import type { TenantRow, UserRow } from "../store/tables/schema.ts";
import { findTenant, toTenant } from "../store/queries/tenants.ts";
import {
  listActiveTenants,
  findUser,
  findUserByEmail,
  findHomeTenant,
  recordLogin,
} from "../store/queries/users.ts";

type Needs = {
  newId: NewId;
  uses: Uses;
  lifetimes: Lifetimes;
  limiter: RateLimiter;
  guard: LoginGuard;
};

export const toTenantAccess = (tenant: TenantRow) => ({
  tenantId: tenant.id,
  tenantName: tenant.name,
  isPartner: tenant.is_partner === 1,
  testTenantId: tenant.test_tenant_id,
  timeZone: toTenant(tenant).settings.timeZone,
});

const readHomeTenant = async (db: Db, userId: string): Promise<string | undefined> => {
  const user = await findUser(db, userId);
  return (user && findHomeTenant(user, await listActiveTenants(db, userId))) ?? undefined;
};

const VERIFIED = { verified: true, status: "ACCESSTOKEN_VERIFIED" } as const;
const INVALID = { verified: false, status: "ACCESSTOKEN_INVALID" } as const;
const EXPIRED = { verified: false, status: "ACCESSTOKEN_EXPIRED" } as const;
const LOGGED_OUT = { status: "LOGOUT_SUCCESS" } as const;

const createWrongPassword = (audit: AuditFacts): Problem =>
  new Problem("invalid_credentials", "The e-mail address or the password is wrong.", { audit });

/** Returns what the log of the user's default tenant says of a failed login; nothing if that tenant is gone. */
const describeFailure = async (
  db: Db,
  user: UserRow,
  tenants: readonly TenantRow[],
  ip: string,
): Promise<AuditFacts> => {
  const tenantId = findHomeTenant(user, tenants) ?? user.default_tenant_id;
  if (tenantId === null || (await findTenant(db, tenantId)) === undefined) return {};
  return { tenantId, actor: user.id, metadata: { address: ip } };
};

/** Finds the user whose e-mail address and password these are. @throws {Problem} the same for every reason */
export const verifyPassword = async (
  { limiter, guard }: Pick<Needs, "limiter" | "guard">,
  { email, password }: { email: string; password: string },
  { db, ip, now }: Pick<Call, "db" | "ip" | "now">,
) => {
  const user = await findUserByEmail(db, email);
  const tenants = user === undefined ? [] : await listActiveTenants(db, user.id);
  const isKnown =
    user !== undefined &&
    (await isKnownAddress(db, user.id, guard.addressHashes(user.id, ip), now));
  // Other people behind the same address cannot use up the logins of a user who has logged in from it before.
  const rateLimitHeaders = isKnown
    ? await limiter.knownLogin(user.id, ip, now)
    : await limiter.login(ip, now);
  const isRight = await guard.attempt(
    { email, ip, isKnown, now },
    async () => (await matchesPassword(password, user?.password_hash)) && tenants.length > 0,
  );
  if (!isRight || user === undefined) {
    throw createWrongPassword(
      user === undefined ? {} : await describeFailure(db, user, tenants, ip),
    );
  }
  return { user, tenants, rateLimitHeaders };
};

type Service = Handlers<Contract["auth"]>;

const login =
  (needs: Needs): Service["login"] =>
  async ({ body }, call) => {
    const { user, tenants, rateLimitHeaders } = await verifyPassword(needs, body, call);
    const home = findHomeTenant(user, tenants);
    const accessToken = randomToken();
    return call.change(async (tx) => {
      // Otherwise the password was replaced after it was checked, which ends all sessions of the former one.
      if (!(await recordLogin(tx, user, call.now))) {
        throw createWrongPassword(await describeFailure(tx, user, tenants, call.ip));
      }
      await insertAll(tx, "sessions", [
        {
          id: needs.newId(),
          token_hash: hashSecret(accessToken),
          user_id: user.id,
          created_at: call.now,
          verified_at: call.now,
          used_at: call.now,
        },
      ]);
      const [addressHash] = needs.guard.addressHashes(user.id, call.ip);
      await recordKnownAddress(tx, user.id, addressHash, call.now);
      const body = {
        status: "LOGIN_SUCCESS" as const,
        userId: user.id,
        email: user.email,
        accessToken,
        expiresIn: Math.floor(needs.lifetimes.sessionNominal / SECOND),
        createdDate: formatTimestamp(call.now),
        tenants: tenants.map(toTenantAccess),
        defaultTenantId: home,
      };
      return { body, rateLimitHeaders, audit: { actor: user.id } };
    }, home ?? undefined);
  };

const verifySession =
  (needs: Needs): Service["verify_session"] =>
  async ({ body }, call) => {
    const hash = hashSecret(body.accessToken);
    const session = await findSession(call.db, hash);
    if (session === undefined) {
      await needs.limiter.failure(call.ip, call.now);
      return { body: INVALID };
    }
    const rateLimitHeaders = await needs.limiter.gateway(session.user_id, call.now);
    const tenantId = await readHomeTenant(call.db, session.user_id);
    const audit = tenantId === undefined ? {} : { tenantId, actor: session.user_id };
    const lives = (row: typeof session): boolean => {
      const used_at = Math.max(row.used_at, needs.uses.last(row.id));
      return isSessionAlive({ ...row, used_at }, call.now, needs.lifetimes);
    };
    // The last use may have been written since the session was read.
    if (!lives(session) && !lives((await findSession(call.db, hash)) ?? session)) {
      return { body: EXPIRED, audit, rateLimitHeaders };
    }
    if ((await listActiveTenants(call.db, session.user_id)).length === 0) {
      return { body: INVALID, audit, rateLimitHeaders };
    }
    return call.change(async (tx) => {
      await updateSession(tx, session.id, { verified_at: call.now, used_at: call.now });
      return { body: VERIFIED, rateLimitHeaders, audit };
    }, tenantId);
  };

const logout =
  (needs: Needs): Service["logout"] =>
  async ({ body }, call) => {
    const session = await findSession(call.db, hashSecret(body.accessToken));
    if (session === undefined) {
      await needs.limiter.failure(call.ip, call.now);
      return { body: LOGGED_OUT };
    }
    return call.change(
      async (tx) => {
        await removeSession(tx, session.id);
        return { body: LOGGED_OUT, audit: { actor: session.user_id } };
      },
      await readHomeTenant(call.db, session.user_id),
    );
  };

export const auth = (needs: Needs): Service => ({
  login: login(needs),
  verify_session: verifySession(needs),
  logout: logout(needs),
});
