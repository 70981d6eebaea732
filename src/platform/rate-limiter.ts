import { Problem } from "../contract/errors.ts";
import { HOUR, MINUTE, SECOND } from "../kit/clock.ts";
import { toClientNetwork } from "../kit/network.ts";
import { type Counted, takeFrom } from "../kit/windows.ts";
import { createCounter } from "./store/queries/counters.ts";
import type { Store } from "./store/port.ts";

/** Requests per fixed window; 0 switches a limit off. */
export type RateLimits = {
  gatewayPerMinute: number;
  loginPerMinute: number;
  /** For each address, at routes that need no credential. */
  visitorPerMinute: number;
  exportPerMinute: number;
  exportPerHour: number;
};

/** Refused credentials per minute and address. */
const FAILURES_PER_MINUTE = 100;

type Window = { name: "minute" | "hour"; quota: number; ms: number };

const minute = (quota: number): Window => ({ name: "minute", quota, ms: MINUTE });
const hour = (quota: number): Window => ({ name: "hour", quota, ms: HOUR });

const secondsLeft = (endsAt: number, now: number): number =>
  Math.max(1, Math.ceil((endsAt - now) / SECOND));

/** Returns the policy of all windows and the state of the counted ones (draft-ietf-httpapi-ratelimit-headers). */
const buildHeaders = (
  windows: readonly Window[],
  states: readonly Counted[],
  now: number,
): Record<string, string> => ({
  "RateLimit-Policy": windows
    .map(({ name, quota, ms }) => `"${name}";q=${quota};w=${ms / SECOND}`)
    .join(", "),
  RateLimit: states
    .map(({ count, endsAt }, place) => {
      // The longest window is counted first.
      const { name = "", quota = 0 } = windows.at(-1 - place) ?? {};
      return `"${name}";r=${Math.max(0, quota - count)};t=${secondsLeft(endsAt, now)}`;
    })
    .toReversed()
    .join(", "),
});

/** Counts requests in windows that all processes on the store share. */
export const createRateLimiter = (store: Store, limits: RateLimits) => {
  const takeOrRefuse = async (subject: string, all: readonly Window[], now: number) => {
    const windows = all.filter(({ quota }) => quota > 0);
    // The longest window first. When a shorter one refuses, the counts of the longer ones are undone.
    const budgets = windows
      .toReversed()
      .map(({ name, quota, ms }) => ({ key: `${subject}:${name}`, max: quota, windowMs: ms }));
    const counter = createCounter(store.counting, now);
    const { states, refusedUntil } = await takeFrom(counter, budgets, { refund: true });
    const headers = windows.length === 0 ? {} : buildHeaders(windows, states, now);
    if (refusedUntil === undefined) return headers;
    const seconds = secondsLeft(refusedUntil, now);
    throw new Problem("rate_limited", `Too many requests. Wait ${seconds} seconds.`, {
      retryAfterSeconds: seconds,
      headers,
    });
  };

  return {
    /** A person has one budget, with however many sessions and keys. */
    gateway: (userId: string, now: number) =>
      takeOrRefuse(`gateway:${userId}`, [minute(limits.gatewayPerMinute)], now),
    login: (ip: string, now: number) =>
      takeOrRefuse(`login:${toClientNetwork(ip)}`, [minute(limits.loginPerMinute)], now),
    /** Counts a login of a user from an address that is known for them, apart from those of others there. */
    knownLogin: (userId: string, ip: string, now: number) =>
      takeOrRefuse(`login:${userId}:${toClientNetwork(ip)}`, [minute(limits.loginPerMinute)], now),
    /** The export service and the ingest API have separate budgets. */
    keyed: (service: "export" | "ingest", tenantId: string, now: number) =>
      takeOrRefuse(
        `${service}:${tenantId}`,
        [minute(limits.exportPerMinute), hour(limits.exportPerHour)],
        now,
      ),
    /** Counts a request that needs no credential. */
    visitor: (ip: string, now: number) =>
      takeOrRefuse(`visitor:${toClientNetwork(ip)}`, [minute(limits.visitorPerMinute)], now),
    /** Counts a refused credential, so that an address cannot guess without limit. */
    failure: (ip: string, now: number) =>
      takeOrRefuse(`failure:${toClientNetwork(ip)}`, [minute(FAILURES_PER_MINUTE)], now),
  };
};

export type RateLimiter = ReturnType<typeof createRateLimiter>;
