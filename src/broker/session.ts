import { Login } from "../contract/operations/auth.ts";
import { contract } from "../contract/index.ts";
import { Problem } from "../contract/errors.ts";
import type { CallOptions, Client, Reply } from "../client/port.ts";
import { type Clock, SECOND } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { LoginWith } from "./credentials.ts";

/** Calls `act` once after `ms` without keeping the process alive; the answer cancels it. */
export type Later = (ms: number, act: () => void) => () => void;

export const systemLater: Later = (ms, act) => {
  const timer = setTimeout(act, ms).unref();
  return () => {
    clearTimeout(timer);
  };
};

export type SessionNeeds = {
  client: Client;
  /** Throws where there is no e-mail or no password. */
  login: () => Promise<LoginWith>;
  /** How long the platform keeps an unused session. */
  idleMs: number;
  clock: Clock;
  later: Later;
  log: Log;
};

/** One login session with the platform: opened when it is needed, kept alive while it is in use. */
export type SessionKeeper = {
  /** The open session's token; opens one where there is none. Concurrent callers share one opening. */
  token(options: CallOptions): Promise<Secret>;
  open(options: CallOptions): Promise<Reply>;
  verify(options: CallOptions): Promise<Reply>;
  close(options: CallOptions): Promise<Reply>;
  /** Forgets a token that the platform refused, unless another has taken its place. */
  drop(token: Secret): void;
  readonly isOpen: boolean;
};

type Open = { token: Secret; lifetimeMs: number; verifiedAt: number; usedAt: number };

const KEEP_ALIVE = { tool: "session.keep_alive" };
// Well before the clock runs out, whatever a slow network adds.
const SHARE_OF_CLOCK = 0.6;
/** A refused login is not tried again at once: a few more and the platform locks the person out. */
const REFUSAL_MS = 60 * SECOND;

export const createSessionKeeper = ({
  client,
  login,
  idleMs,
  clock,
  later,
  log,
}: SessionNeeds): SessionKeeper => {
  let session: Open | undefined;
  let opening: Promise<Reply> | undefined;
  let refusal: { problem: Problem; until: number } | undefined;
  let cancelKeepAlive = () => {};

  const forget = () => {
    session = undefined;
    cancelKeepAlive();
  };

  const send = (
    operation: typeof contract.auth.verify_session | typeof contract.auth.logout,
    token: Secret,
    options: CallOptions,
  ) => client.call(operation, { accessToken: token.reveal() }, {}, options);

  // Several callers may wait for it, so none of their signals ends it.
  const start = async ({ tool }: CallOptions): Promise<Reply> => {
    const { email, password } = await login();
    const args = { email, password: password.reveal() };
    const reply = await client.call(contract.auth.login, args, {}, { tool });
    // Only what is known to be no secret goes on.
    const { accessToken, ...output } = Login.parse(reply.output);
    const now = clock();
    session = {
      token: new Secret(accessToken),
      lifetimeMs: output.expiresIn * SECOND,
      verifiedAt: now,
      usedAt: now,
    };
    refusal = undefined;
    keepAlive();
    log.info("session.opened");
    return { ...reply, output };
  };

  const open = (options: CallOptions): Promise<Reply> => {
    opening ??= start(options)
      .catch((error: unknown) => {
        if (error instanceof Problem && error.code === "invalid_credentials") {
          refusal = { problem: error, until: clock() + REFUSAL_MS };
        }
        throw error;
      })
      .finally(() => {
        opening = undefined;
      });
    return opening;
  };

  const check = async (current: Open, options: CallOptions): Promise<Reply> => {
    const reply = await send(contract.auth.verify_session, current.token, options);
    const { verified } = reply.output as { verified: boolean };
    if (verified) current.verifiedAt = clock();
    else if (session === current) forget();
    return reply;
  };

  // Nobody waits for it: whatever fails here, the next call finds out for itself.
  const keepAlive = () => {
    cancelKeepAlive();
    const current = session;
    if (current === undefined) return;
    const period = Math.min(idleMs, current.lifetimeMs) * SHARE_OF_CLOCK;
    cancelKeepAlive = later(period, () => {
      if (session !== current || clock() - current.usedAt > current.lifetimeMs) return;
      check(current, KEEP_ALIVE)
        .catch(() => log.warn("session.keep_alive_failed"))
        .finally(() => {
          if (session === current) keepAlive();
        });
    });
  };

  const ensure = async (options: CallOptions): Promise<Open> => {
    if (session === undefined) {
      if (refusal !== undefined && clock() < refusal.until) throw refusal.problem;
      await open(options);
    }
    // Closed again by another call while this one waited.
    if (session === undefined) throw new Problem("unauthenticated", "The session was closed.");
    return session;
  };

  return {
    get isOpen() {
      return session !== undefined;
    },
    async token(options) {
      const current = await ensure(options);
      const now = clock();
      const stale = now - current.verifiedAt > current.lifetimeMs * SHARE_OF_CLOCK;
      // Use restarts the idle clock alone; the lifetime counts from the last verification.
      const due = stale && now - current.usedAt < idleMs;
      current.usedAt = now;
      if (due) await check(current, options);
      return (session ?? (await ensure(options))).token;
    },
    async open(options) {
      const old = session;
      const reply = await open(options);
      if (old !== undefined && old !== session) {
        send(contract.auth.logout, old.token, options).catch(() => {});
      }
      return reply;
    },
    async verify(options) {
      const current = await ensure(options);
      current.usedAt = clock();
      return check(current, options);
    },
    async close(options) {
      const current = session;
      if (current === undefined) {
        const output = { status: "LOGOUT_SUCCESS" };
        return { status: 200, output, etag: null, requestId: null, total: null, ignoredFields: [] };
      }
      forget();
      return send(contract.auth.logout, current.token, options);
    },
    drop(token) {
      if (session?.token === token) forget();
    },
  };
};
