import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import { Problem } from "../../contract/errors.ts";

/** Counts one call of the caller in a window that all nodes share; `endsAt` is the window's end. */
export type CountCall = () => Promise<{ count: number; endsAt: number }>;

const rateLimited = (perMinute: number, waitMs: number): Problem =>
  new Problem(
    "rate_limited",
    `Too many calls of tools in a minute; ${perMinute} are let through.`,
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / SECOND)) },
  );

/** Token-bucket rate limiter: `perMinute` calls per minute, bursts allowed. */
const createBucket = (perMinute: number, now: Clock): (() => void) => {
  let [left, at] = [perMinute, now()];
  return () => {
    const passed = Math.max(0, now() - at);
    left = Math.min(perMinute, left + (passed * perMinute) / MINUTE);
    at = now();
    if (left < 1) throw rateLimited(perMinute, ((1 - left) * MINUTE) / perMinute);
    left -= 1;
  };
};

/**
 * Creates a limiter of `perMinute` calls; 0 means no limit. Nodes that share a count share the limit.
 *
 * @throws {Problem} rate_limited
 */
export const createRateLimiter = (
  perMinute: number,
  now: Clock,
  countCall?: CountCall,
): (() => Promise<void>) => {
  if (perMinute === 0) return async () => {};
  if (countCall === undefined) {
    const pass = createBucket(perMinute, now);
    return async () => pass();
  }
  return async () => {
    const { count, endsAt } = await countCall();
    if (count > perMinute) throw rateLimited(perMinute, endsAt - now());
  };
};
