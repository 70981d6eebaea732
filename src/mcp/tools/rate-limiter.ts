import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import type { Counted } from "../../kit/windows.ts";
import { Problem } from "../../contract/errors.ts";

/** Counts one call of the caller; `endsAt` is when the next calls are let through if there are too many. */
export type CountCall = () => Promise<Counted>;

/** Counts the calls of this process as a bucket of `perMinute` that is refilled all the time, so bursts are allowed. */
const createBucket = (perMinute: number, now: Clock): CountCall => {
  let [left, at] = [perMinute, now()];
  return async () => {
    const passed = Math.max(0, now() - at);
    left = Math.min(perMinute, left + (passed * perMinute) / MINUTE);
    at = now();
    if (left < 1) return { count: perMinute + 1, endsAt: at + ((1 - left) * MINUTE) / perMinute };
    left -= 1;
    return { count: perMinute - left, endsAt: at };
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
  countCall: CountCall = createBucket(perMinute, now),
): (() => Promise<void>) => {
  if (perMinute === 0) return async () => {};
  return async () => {
    const { count, endsAt } = await countCall();
    if (count <= perMinute) return;
    const message = `Too many calls of tools in a minute; ${perMinute} are let through.`;
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAt - now()) / SECOND));
    throw new Problem("rate_limited", message, { retryAfterSeconds });
  };
};
