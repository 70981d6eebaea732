import { LRUCache } from "lru-cache";
import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import { findClientNetwork } from "../../kit/network.ts";

/** Failures per client network and minute, and the number of networks that are counted at once. */
export const FAILURE_LIMITS = { perMinute: 60, networks: 10_000 };

/** A check that counts as failed until `succeed` is called. */
type Attempt = {
  /** Seconds until the client may fail again; undefined while it has failures left. */
  retryAfter: number | undefined;
  /** Removes this attempt from the count. */
  succeed(): void;
};

export type FailureLimiter = {
  /** Counts an attempt of the client at this address. Attempts without an address are this process's own. */
  begin(address: string | undefined): Attempt;
};

type Window = { failures: number; endsAt: number };

/** Creates a limiter of failed checks by client network, in windows of a minute; IPv6 addresses count by /64. */
export const createFailureLimiter = (now: Clock): FailureLimiter => {
  const windows = new LRUCache<string, Window>({ max: FAILURE_LIMITS.networks });

  const openWindow = (network: string): Window => {
    const endsAt = now() + MINUTE;
    const known = windows.get(network);
    if (known !== undefined && now() < known.endsAt) {
      // The clock may have been set back since the window was opened.
      known.endsAt = Math.min(known.endsAt, endsAt);
      return known;
    }
    const started = { failures: 0, endsAt };
    windows.set(network, started);
    return started;
  };

  return {
    begin(address) {
      if (address === undefined) return { retryAfter: undefined, succeed() {} };
      const window = openWindow(findClientNetwork(address) ?? address);
      if (window.failures >= FAILURE_LIMITS.perMinute) {
        return { retryAfter: Math.ceil((window.endsAt - now()) / SECOND), succeed() {} };
      }
      // Counted before the check, so that concurrent checks cannot exceed the limit.
      window.failures += 1;
      return {
        retryAfter: undefined,
        succeed() {
          window.failures -= 1;
        },
      };
    },
  };
};
