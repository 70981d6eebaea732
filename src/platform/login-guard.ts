import { createHmac } from "node:crypto";
import { availableParallelism } from "node:os";
import { Problem } from "../contract/errors.ts";
import { type Clock, MINUTE, SECOND } from "../kit/clock.ts";
import { createFairQueue, QueueFull } from "../kit/fair-queue.ts";
import { clientNetworkOf } from "../kit/network.ts";
import { keyFor } from "../kit/seal.ts";
import { count, findCounter, forget, giveBack } from "./store/counters.ts";
import { fold } from "./store/fold.ts";
import type { Store } from "./store/port.ts";

const WINDOW_MS = 15 * MINUTE;
/** Failures at one account from one address. */
const MAX_FAILURES_PER_ADDRESS = 10;
/** Failures at one account over all addresses that its user has not logged in from. */
const MAX_FAILURES_PER_ACCOUNT = 20;

// Node computes argon2 on libuv's pool, which has four threads.
const HASHES_AT_ONCE = Math.min(availableParallelism(), 4);
const QUEUE = { running: HASHES_AT_ONCE, waiting: 64, waitingPerKey: 16 };

type Budget = { key: string; max: number };

/** One login: whose account, from where, and whether that address is known for it. */
export type LoginAttempt = { email: string; ip: string; isKnown: boolean; now: number };

const tooMany = (windowEndsAt: number, now: number): Problem =>
  new Problem("rate_limited", "Too many failed logins. Wait before the next one.", {
    retryAfterSeconds: Math.max(1, Math.ceil((windowEndsAt - now) / SECOND)),
  });

/**
 * Limits guesses at passwords. Failures count for the account at one address and, from addresses that are not known for
 * the account, for the account over all addresses; so guesses from elsewhere never refuse a user at a known address. An
 * account that does not exist is treated alike, which tells nothing about it. Hashes are computed a few at a time.
 */
export const createLoginGuard = ({
  store,
  masterKey,
  clock,
}: {
  store: Store;
  masterKey: Buffer;
  clock: Clock;
}) => {
  const { counting } = store;
  const queue = createFairQueue(QUEUE);
  const secret = keyFor(masterKey, "known-address");
  let hashMs = 50;

  const digest = (...parts: string[]): string =>
    createHmac("sha256", secret).update(JSON.stringify(parts)).digest("base64url");

  const networkOf = (ip: string): string => clientNetworkOf(ip) ?? ip;

  const budgetsOf = ({ email, ip, isKnown }: LoginAttempt): Budget[] => {
    const account = fold(email);
    const here = {
      key: `password:${digest(account, networkOf(ip))}`,
      max: MAX_FAILURES_PER_ADDRESS,
    };
    const everywhere = { key: `password:${digest(account)}`, max: MAX_FAILURES_PER_ACCOUNT };
    return isKnown ? [here] : [here, everywhere];
  };

  const checkBudgets = async (budgets: Budget[], now: number): Promise<void> => {
    for (const { key, max } of budgets) {
      // oxlint-disable-next-line no-await-in-loop -- two at most
      const row = await findCounter(counting, key, now);
      if (row !== undefined && row.count >= max) throw tooMany(row.window_ends_at, now);
    }
  };

  const takeBudgets = async (budgets: Budget[], now: number): Promise<void> => {
    for (const { key, max } of budgets) {
      // oxlint-disable-next-line no-await-in-loop -- two at most
      const row = await count(counting, key, now, WINDOW_MS);
      if (row.count > max) throw tooMany(row.window_ends_at, now);
    }
  };

  const refuseFull = (error: unknown): never => {
    if (!(error instanceof QueueFull)) throw error;
    const details = {
      retryAfterSeconds: Math.max(
        1,
        Math.ceil((queue.waiting() * hashMs) / HASHES_AT_ONCE / SECOND),
      ),
    };
    throw error.ofKey
      ? new Problem("rate_limited", "Too many logins at once from this address. Wait.", details)
      : new Problem("unavailable", "Too many logins wait to be checked. Try again.", details);
  };

  const timed = async (check: () => Promise<boolean>): Promise<boolean> => {
    const startedAt = clock();
    try {
      return await check();
    } finally {
      hashMs = hashMs * 0.9 + (clock() - startedAt) * 0.1;
    }
  };

  return {
    /** Names an address of a user in the store: without the master key it cannot be read back. */
    addressHash: (userId: string, ip: string): string => digest("address", userId, networkOf(ip)),
    /**
     * Runs a check of a password within the budgets of its account and address. An attempt counts before its result is
     * known, so that simultaneous guesses cannot exceed a budget, and is given back when the password was right.
     *
     * @throws {Problem} rate_limited, unavailable
     */
    async attempt(login: LoginAttempt, check: () => Promise<boolean>): Promise<boolean> {
      const budgets = budgetsOf(login);
      await checkBudgets(budgets, login.now);
      const isRight = await queue
        .run(networkOf(login.ip), async () => {
          await takeBudgets(budgets, login.now);
          return timed(check);
        })
        .catch(refuseFull);
      const [here, everywhere] = budgets;
      if (isRight && here !== undefined) await forget(counting, here.key);
      if (isRight && everywhere !== undefined) await giveBack(counting, everywhere.key);
      return isRight;
    },
  };
};

export type LoginGuard = ReturnType<typeof createLoginGuard>;
