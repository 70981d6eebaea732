import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import { findClientNetwork } from "../../kit/network.ts";
import { createMemoryCounter, takeFrom } from "../../kit/windows.ts";

/** Failures per client network and minute, and the number of networks that are counted at once. */
export const FAILURE_LIMITS = { perMinute: 60, networks: 10_000 };

/** A check that counts as failed until `succeed` is called. */
type Attempt = {
  /** Seconds until the client may fail again; undefined while it has failures left. */
  retryAfter: number | undefined;
  /** Removes this attempt from the count. */
  succeed(): Promise<void>;
};

export type FailureLimiter = {
  /** Counts an attempt of the client at this address. Attempts without an address are this process's own. */
  begin(address: string | undefined): Promise<Attempt>;
};

/** Creates a limiter of failed checks by client network, in windows of a minute; IPv6 addresses count by /64. */
export const createFailureLimiter = (now: Clock): FailureLimiter => {
  const counter = createMemoryCounter(now, FAILURE_LIMITS.networks);
  return {
    async begin(address) {
      if (address === undefined) return { retryAfter: undefined, async succeed() {} };
      const key = findClientNetwork(address) ?? address;
      const budget = { key, max: FAILURE_LIMITS.perMinute, windowMs: MINUTE };
      // Counted before the check, so that concurrent checks cannot exceed the limit.
      const { states, refusedUntil } = await takeFrom(counter, [budget], { refund: true });
      if (refusedUntil !== undefined) {
        const retryAfter = Math.ceil((refusedUntil - now()) / SECOND);
        return { retryAfter, async succeed() {} };
      }
      return {
        retryAfter: undefined,
        succeed: () => counter.giveBack(key, states[0]?.endsAt ?? 0),
      };
    },
  };
};
