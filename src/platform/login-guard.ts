import { createHmac } from "node:crypto";
import { availableParallelism } from "node:os";
import { Problem } from "../contract/errors.ts";
import { type Clock, MINUTE, SECOND } from "../kit/clock.ts";
import { createFairQueue, QueueFull } from "../kit/fair-queue.ts";
import { toClientNetwork } from "../kit/network.ts";
import { keysFor, type MasterKey } from "../kit/seal.ts";
import { type Budget, takeFrom } from "../kit/windows.ts";
import { createCounter, findCounter, forget, giveBack } from "./store/queries/counters.ts";
import { fold } from "./store/engine/fold.ts";
import type { Db, Store } from "./store/port.ts";

const WINDOW_MS = 15 * MINUTE;
/** Failures at one account from one address. */
const MAX_FAILURES_PER_ADDRESS = 10;
/** Failures at one account over all addresses that its user has not logged in from. */
const MAX_FAILURES_PER_ACCOUNT = 20;

// Node computes argon2 on libuv's pool, which has four threads.
const HASHES_AT_ONCE = Math.min(availableParallelism(), 4);
const QUEUE = { running: HASHES_AT_ONCE, waiting: 64, waitingPerKey: 16 };

const digest = (secret: Buffer, parts: string[]): string =>
  createHmac("sha256", secret).update(JSON.stringify(parts)).digest("base64url");

/** A login attempt; `isKnown` if its user has logged in from the address before. */
export type LoginAttempt = { email: string; ip: string; isKnown: boolean; now: number };

const createTooMany = (windowEndsAt: number, now: number): Problem =>
  new Problem("rate_limited", "Too many failed logins. Wait before the next one.", {
    retryAfterSeconds: Math.max(1, Math.ceil((windowEndsAt - now) / SECOND)),
  });

/**
 * Limits guesses at passwords. Failures count for the account at one address and, from addresses that are not known for
 * the account, for the account over all addresses; so guesses from elsewhere never refuse a user at a known address. An
 * account that does not exist is treated alike, which tells nothing about it. Hashes are computed a few at a time.
 */
export class LoginGuard {
  readonly #counting: Db;
  readonly #clock: Clock;
  readonly #secrets: [Buffer, ...Buffer[]];
  readonly #queue = createFairQueue(QUEUE);
  /** Moving average of the time of a hash, in milliseconds. */
  #hashMs = 50;

  constructor({ store, masterKey, clock }: { store: Store; masterKey: MasterKey; clock: Clock }) {
    this.#counting = store.counting;
    this.#clock = clock;
    this.#secrets = keysFor(masterKey, "known-address");
  }

  /**
   * Returns the names for an address of a user in the store, under the current key and former ones. The address cannot
   * be read back without the key.
   */
  addressHashes(userId: string, ip: string): [string, ...string[]] {
    const parts = ["address", userId, toClientNetwork(ip)];
    const [current, ...former] = this.#secrets;
    return [digest(current, parts), ...former.map((secret) => digest(secret, parts))];
  }

  /**
   * Runs a check of a password within the budgets of its account and address. An attempt counts before its result is
   * known, so that simultaneous guesses cannot exceed a budget; a right password gives the attempt back.
   *
   * @throws {Problem} rate_limited, unavailable
   */
  async attempt(login: LoginAttempt, check: () => Promise<boolean>): Promise<boolean> {
    const budgets = this.#listBudgets(login);
    await this.#checkBudgets(budgets, login.now);
    let ends: number[] = [];
    const isRight = await this.#queue
      .run(toClientNetwork(login.ip), async () => {
        ends = await this.#takeBudgets(budgets, login.now);
        return this.#measure(check);
      })
      .catch((error: unknown) => this.#refuseFull(error));
    const [here, everywhere] = budgets;
    if (isRight && here !== undefined) await forget(this.#counting, here.key);
    const end = ends[1];
    if (isRight && everywhere !== undefined && end !== undefined) {
      await giveBack(this.#counting, everywhere.key, end);
    }
    return isRight;
  }

  /** Forgets the failures at an account from an address, whose person has proved to own the account. */
  async forgive(email: string, ip: string): Promise<void> {
    await forget(this.#counting, this.#addressKey(email, ip));
  }

  #addressKey(email: string, ip: string): string {
    return `password:${this.#digest(fold(email), toClientNetwork(ip))}`;
  }

  #digest(...parts: string[]): string {
    return digest(this.#secrets[0], parts);
  }

  #listBudgets({ email, ip, isKnown }: LoginAttempt): Budget[] {
    const windowMs = WINDOW_MS;
    const here = { key: this.#addressKey(email, ip), max: MAX_FAILURES_PER_ADDRESS, windowMs };
    const everywhere = {
      key: `password:${this.#digest(fold(email))}`,
      max: MAX_FAILURES_PER_ACCOUNT,
      windowMs,
    };
    return isKnown ? [here] : [here, everywhere];
  }

  async #checkBudgets(budgets: Budget[], now: number): Promise<void> {
    for (const { key, max } of budgets) {
      const row = await findCounter(this.#counting, key, now);
      // The count of the attempt shortens a window from before the clock was set back.
      if (row === undefined || row.window_ends_at > now + WINDOW_MS) continue;
      if (row.count >= max) throw createTooMany(row.window_ends_at, now);
    }
  }

  /** Counts the attempt, and returns when the window of each budget ends. */
  async #takeBudgets(budgets: Budget[], now: number): Promise<number[]> {
    const counter = createCounter(this.#counting, now);
    const { states, refusedUntil } = await takeFrom(counter, budgets, { refund: false });
    if (refusedUntil !== undefined) throw createTooMany(refusedUntil, now);
    return states.map(({ endsAt }) => endsAt);
  }

  #refuseFull(error: unknown): never {
    if (!(error instanceof QueueFull)) throw error;
    const waitMs = (this.#queue.waiting() * this.#hashMs) / HASHES_AT_ONCE;
    const details = { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / SECOND)) };
    throw error.ofKey
      ? new Problem("rate_limited", "Too many logins at once from this address. Wait.", details)
      : new Problem("unavailable", "Too many logins wait to be checked. Try again.", details);
  }

  async #measure(check: () => Promise<boolean>): Promise<boolean> {
    const startedAt = this.#clock();
    try {
      return await check();
    } finally {
      this.#hashMs = this.#hashMs * 0.9 + (this.#clock() - startedAt) * 0.1;
    }
  }
}
