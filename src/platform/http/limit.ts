import { Problem } from "../../contract/errors.ts";
import { HOUR, MINUTE, SECOND } from "../../kit/clock.ts";
import { clientNetworkOf } from "../../kit/network.ts";
import { count, giveBack } from "../store/counters.ts";
import type { Store } from "../store/port.ts";

/** Requests per fixed window; 0 switches a limit off. */
export type Limits = {
  gatewayPerMinute: number;
  loginPerMinute: number;
  /** Of one address without a credential, where none is needed. */
  visitorPerMinute: number;
  exportPerMinute: number;
  exportPerHour: number;
};

/** Refused credentials per minute and address. */
const FAILURES_PER_MINUTE = 100;

type Window = { name: "minute" | "hour"; quota: number; ms: number };
type State = Window & { used: number; endsAt: number };

const minute = (quota: number): Window => ({ name: "minute", quota, ms: MINUTE });
const hour = (quota: number): Window => ({ name: "hour", quota, ms: HOUR });

const secondsLeft = (endsAt: number, now: number): number =>
  Math.max(1, Math.ceil((endsAt - now) / SECOND));

const networkOf = (ip: string): string => clientNetworkOf(ip) ?? ip;

/** Every window's rule, and how each that was looked at stands. */
const headersOf = (
  windows: readonly Window[],
  states: readonly State[],
  now: number,
): Record<string, string> => ({
  "RateLimit-Policy": windows
    .map(({ name, quota, ms }) => `"${name}";q=${quota};w=${ms / SECOND}`)
    .join(", "),
  RateLimit: states
    .map(({ name, quota, used, endsAt }) => {
      const left = Math.max(0, quota - used);
      return `"${name}";r=${left};t=${secondsLeft(endsAt, now)}`;
    })
    .join(", "),
});

/** Counts requests in windows that all processes on the store share. */
export const createLimiter = (store: Store, limits: Limits) => {
  const take = async (subject: string, windows: readonly Window[], now: number) => {
    const states: State[] = [];
    // The longest first: where a shorter one then refuses, what was taken is given back.
    for (const window of windows.toReversed()) {
      const key = `${subject}:${window.name}`;
      const row = await count(store.counting, key, now, window.ms);
      states.push({ ...window, used: row.count, endsAt: row.window_ends_at });
      if (row.count <= window.quota) continue;
      for (const state of states) {
        await giveBack(store.counting, `${subject}:${state.name}`);
        state.used -= 1;
      }
      return { states, refusedUntil: row.window_ends_at };
    }
    return { states, refusedUntil: undefined };
  };

  const takeOrRefuse = async (
    subject: string,
    all: readonly Window[],
    now: number,
  ): Promise<Record<string, string>> => {
    const windows = all.filter(({ quota }) => quota > 0);
    const { states, refusedUntil } = await take(subject, windows, now);
    const headers = windows.length === 0 ? {} : headersOf(windows, states.toReversed(), now);
    if (refusedUntil === undefined) return headers;
    const seconds = secondsLeft(refusedUntil, now);
    throw new Problem("rate_limited", `Too many requests. Wait ${seconds} seconds.`, {
      retryAfterSeconds: seconds,
      headers,
    });
  };

  return {
    gateway: (credentialId: string, now: number) =>
      takeOrRefuse(`gateway:${credentialId}`, [minute(limits.gatewayPerMinute)], now),
    login: (ip: string, now: number) =>
      takeOrRefuse(`login:${networkOf(ip)}`, [minute(limits.loginPerMinute)], now),
    /** The export service and the ingest API each count for themselves. */
    keyed: (service: "export" | "ingest", tenantId: string, now: number) =>
      takeOrRefuse(
        `${service}:${tenantId}`,
        [minute(limits.exportPerMinute), hour(limits.exportPerHour)],
        now,
      ),
    /** What needs no credential. */
    visitor: (ip: string, now: number) =>
      takeOrRefuse(`visitor:${networkOf(ip)}`, [minute(limits.visitorPerMinute)], now),
    /** After a refused credential: an address that keeps guessing is told to wait. */
    failure: (ip: string, now: number) =>
      takeOrRefuse(`failure:${networkOf(ip)}`, [minute(FAILURES_PER_MINUTE)], now),
  };
};

export type Limiter = ReturnType<typeof createLimiter>;
