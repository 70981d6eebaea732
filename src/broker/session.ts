import { Login } from "../contract/operations/auth.ts";
import { contract } from "../contract/index.ts";
import { Problem } from "../contract/errors.ts";
import type { CallOptions, Client, Reply } from "../client/port.ts";
import { type Clock, SECOND } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { LoginCredentials } from "./credentials.ts";

/** Calls `act` once after `ms` without keeping the process alive. Returns a function that cancels it. */
export type Schedule = (ms: number, act: () => void) => () => void;

export const systemSchedule: Schedule = (ms, act) => {
  const timer = setTimeout(act, ms).unref();
  return () => {
    clearTimeout(timer);
  };
};

export type SessionNeeds = {
  client: Client;
  /** Throws Problem without an e-mail or a password. */
  login: () => Promise<LoginCredentials>;
  /** Names the origin of a refused password. */
  nameRefused?: (error: unknown) => unknown;
  /** Milliseconds after which the platform ends an unused session. */
  idleMs: number;
  clock: Clock;
  schedule: Schedule;
  log: Log;
};

type Open = { token: Secret; lifetimeMs: number; verifiedAt: number; usedAt: number };

const KEEP_ALIVE = { tool: "session.keep_alive" };
/** The part of a lifetime after which a session is verified again: early enough for a slow network. */
const RENEWAL_SHARE = 0.6;
/** A refused login is not repeated for this long, because the platform locks the person out after a few. */
const REFUSAL_MS = 60 * SECOND;

/** One login session with the platform: opened when it is first needed and kept alive while it is in use. */
export class SessionKeeper {
  readonly #needs: SessionNeeds;
  #session: Open | undefined;
  #opening: Promise<Reply> | undefined;
  #refusal: { problem: Problem; until: number } | undefined;
  #cancelKeepAlive = (): void => {};

  constructor(needs: SessionNeeds) {
    this.#needs = needs;
  }

  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  /** Returns the open session's token and opens a session if there is none. Concurrent callers share one login. */
  async token(options: CallOptions): Promise<Secret> {
    const current = await this.#ensure(options);
    const now = this.#needs.clock();
    const isAging = now - current.verifiedAt > current.lifetimeMs * RENEWAL_SHARE;
    // Use restarts the idle clock only; the lifetime counts from the last verification.
    const isDue = isAging && now - current.usedAt < this.#needs.idleMs;
    current.usedAt = now;
    if (isDue) await this.#check(current, options);
    return (this.#session ?? (await this.#ensure(options))).token;
  }

  /** Logs in and ends the former session. */
  async open(options: CallOptions): Promise<Reply> {
    const former = this.#session;
    const reply = await this.#login(options);
    if (former !== undefined && former !== this.#session) {
      this.#logout(former.token, options).catch(() => {});
    }
    return reply;
  }

  async verify(options: CallOptions): Promise<Reply> {
    const current = await this.#ensure(options);
    current.usedAt = this.#needs.clock();
    return this.#check(current, options);
  }

  async close(options: CallOptions): Promise<Reply> {
    const current = this.#session;
    if (current === undefined) {
      const output = { status: "LOGOUT_SUCCESS" };
      return { status: 200, output, etag: null, requestId: null, total: null, ignoredFields: [] };
    }
    this.#forget();
    return this.#logout(current.token, options);
  }

  /** Forgets a token that the platform refused, unless another one has replaced it. */
  drop(token: Secret): void {
    if (this.#session?.token === token) this.#forget();
  }

  #forget(): void {
    this.#session = undefined;
    this.#cancelKeepAlive();
  }

  #logout(token: Secret, options: CallOptions): Promise<Reply<typeof contract.auth.logout>> {
    const args = { accessToken: token.reveal() };
    return this.#needs.client.call(contract.auth.logout, args, {}, options);
  }

  #login(options: CallOptions): Promise<Reply> {
    this.#opening ??= this.#start(options)
      .catch((cause: unknown) => {
        const error = this.#needs.nameRefused?.(cause) ?? cause;
        if (error instanceof Problem && error.code === "invalid_credentials") {
          this.#refusal = { problem: error, until: this.#needs.clock() + REFUSAL_MS };
        }
        throw error;
      })
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  // Several callers may wait for this login, so none of their signals cancels it.
  async #start({ tool }: CallOptions): Promise<Reply> {
    const { client, login, clock, log } = this.#needs;
    const { email, password } = await login();
    const args = { email, password: password.reveal() };
    const reply = await client.call(contract.auth.login, args, {}, { tool });
    // The documented fields only, so that no undocumented secret is passed on.
    const { accessToken, ...output } = Login.parse(reply.output);
    const now = clock();
    this.#session = {
      token: new Secret(accessToken),
      lifetimeMs: output.expiresIn * SECOND,
      verifiedAt: now,
      usedAt: now,
    };
    this.#refusal = undefined;
    this.#keepAlive();
    log.info("session.opened");
    return { ...reply, output };
  }

  async #check(current: Open, options: CallOptions): Promise<Reply> {
    const args = { accessToken: current.token.reveal() };
    const reply = await this.#needs.client.call(contract.auth.verify_session, args, {}, options);
    if (reply.output.verified) current.verifiedAt = this.#needs.clock();
    else if (this.#session === current) this.#forget();
    return reply;
  }

  // A failure is only logged: the next call notices a lost session by itself.
  #keepAlive(): void {
    this.#cancelKeepAlive();
    const current = this.#session;
    if (current === undefined) return;
    const { idleMs, clock, schedule, log } = this.#needs;
    const period = Math.min(idleMs, current.lifetimeMs) * RENEWAL_SHARE;
    this.#cancelKeepAlive = schedule(period, () => {
      if (this.#session !== current || clock() - current.usedAt > current.lifetimeMs) return;
      this.#check(current, KEEP_ALIVE)
        .catch(() => log.warn("session.keep_alive_failed"))
        .finally(() => {
          if (this.#session === current) this.#keepAlive();
        });
    });
  }

  async #ensure(options: CallOptions): Promise<Open> {
    const refusal = this.#refusal;
    if (this.#session === undefined) {
      if (refusal !== undefined && this.#needs.clock() < refusal.until) throw refusal.problem;
      await this.#login(options);
    }
    // Another call may have closed the session while this one waited.
    if (this.#session === undefined)
      throw new Problem("unauthenticated", "The session was closed.");
    return this.#session;
  }
}
