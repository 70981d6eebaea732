import { Problem } from "../../contract/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Secret } from "../../kit/secret.ts";
import type { LoginGuard } from "../login-guard.ts";
import { checkNewPassword, hashPassword } from "../passwords.ts";
import type { RateLimiter } from "../rate-limiter.ts";
import type { ResetHolder, ResetTokens } from "../reset-tokens.ts";
import { recordKnownAddress } from "../store/queries/known-addresses.ts";
import { appendEntries } from "../store/audit/chain.ts";
import type { NewEntry } from "../store/audit/entries.ts";
import { type Store, unlessPaused } from "../store/port.ts";
import { findHomeTenant, listActiveTenants, replacePassword } from "../store/queries/users.ts";
import { verifyPassword } from "./auth.ts";

type Needs = {
  store: Store;
  clock: Clock;
  newId: NewId;
  limiter: RateLimiter;
  guard: LoginGuard;
  log: Log;
  tokens: ResetTokens;
  /** Writes an audit entry that belongs to no change. */
  record(entry: NewEntry): Promise<void>;
};

export type Passwords = ReturnType<typeof createPasswords>;

type Entry = { endpoint: string; action: string; ip: string };

/** Sets a password and ends what the former one gave access to; false if it was replaced meanwhile. */
const set = async (
  { store, clock, newId, limiter, guard }: Needs,
  user: ResetHolder,
  password: Secret,
  { endpoint, action, ip }: Entry,
): Promise<boolean> => {
  // To judge and to hash a password takes time, and a link can be sent any number of times until it is used.
  await limiter.gateway(user.id, clock());
  await checkNewPassword(password.reveal());
  const hash = await hashPassword(password.reveal());
  return store.transaction(async (tx) => {
    if ((await replacePassword(tx, user, hash)) === undefined) return false;
    // Guesses of others, and the person's own before, do not keep them from signing in now.
    await recordKnownAddress(tx, user.id, guard.addressHashes(user.id, ip)[0], clock());
    const tenantId = findHomeTenant(user, await listActiveTenants(tx, user.id));
    if (tenantId === null) return true;
    const metadata = { actor: user.id, resourceId: user.id };
    const fields = { method: "POST", endpoint, action, statusCode: 200, metadata };
    await appendEntries(tx, store.auditKey, [{ tenantId, id: newId(), at: clock(), ...fields }]);
    return true;
  });
};

/** One request to change a password. */
type Asked = { requestId: string; ip: string; now: number; endpoint: string };

/** Logs a wrong password, and writes its entry; without a tenant, the audit log keeps nothing of it. */
const recordFailure = async (
  { newId, log, record }: Needs,
  error: unknown,
  { requestId, ip: address, now, endpoint }: Asked,
): Promise<void> => {
  if (!(error instanceof Problem) || error.code !== "invalid_credentials") return;
  log.warn("login.failed", { requestId, address });
  const { tenantId = "", actor, metadata } = error.details.audit ?? {};
  await record({
    tenantId,
    id: newId(),
    at: now,
    method: "POST",
    endpoint,
    action: "auth.login_failed",
    statusCode: error.status,
    metadata: { ...metadata, ...(actor === undefined ? {} : { actor }) },
  })
    // Another answer than for an unknown address would tell that this one is known.
    .catch(unlessPaused);
};

/** The operations by which people set their own passwords. */
export const createPasswords = (needs: Needs) => ({
  /** @throws {Problem} invalid_credentials, invalid_request, rate_limited, unavailable */
  async change(
    { email, password, next }: { email: string; password: Secret; next: Secret },
    request: Asked,
  ): Promise<void> {
    const db = needs.store.read;
    const sent = { email, password: password.reveal() };
    const { user } = await verifyPassword(needs, sent, { db, ...request }).catch(
      async (error: unknown) => {
        await recordFailure(needs, error, request);
        throw error;
      },
    );
    const { endpoint, ip } = request;
    if (await set(needs, user, next, { endpoint, ip, action: "auth.password_changed" })) return;
    throw new Problem("conflict", "The password has just been changed elsewhere.");
  },

  /**
   * Returns the person whose password a link replaces; undefined if the link is not valid, or no longer.
   *
   * @throws {Problem} rate_limited, after many links that are not valid
   */
  async findHolder(
    token: string,
    { ip, now }: { ip: string; now: number },
  ): Promise<ResetHolder | undefined> {
    const holder = await needs.tokens.findHolder(needs.store.read, token);
    if (holder === undefined) await needs.limiter.failure(ip, now);
    return holder;
  },

  /** Sets the password of a link's person; false if the link was used meanwhile. @throws {Problem} invalid_request */
  async reset(
    holder: ResetHolder,
    next: Secret,
    { endpoint, ip }: Omit<Entry, "action">,
  ): Promise<boolean> {
    const isSet = await set(needs, holder, next, { endpoint, ip, action: "auth.password_reset" });
    if (isSet) await needs.guard.forgive(holder.email, ip);
    return isSet;
  },
});
