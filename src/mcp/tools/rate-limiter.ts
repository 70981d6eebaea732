import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import { Problem } from "../../contract/errors.ts";

/**
 * Token-bucket rate limiter: `perMinute` calls per minute, bursts allowed; 0 means no limit.
 *
 * @throws {Problem} rate_limited
 */
export const createRateLimiter = (perMinute: number, now: Clock): (() => void) => {
  let [left, at] = [perMinute, now()];
  return () => {
    if (perMinute === 0) return;
    const passed = Math.max(0, now() - at);
    left = Math.min(perMinute, left + (passed * perMinute) / MINUTE);
    at = now();
    if (left < 1) {
      const seconds = Math.ceil(((1 - left) * MINUTE) / perMinute / SECOND);
      throw new Problem(
        "rate_limited",
        `Too many calls of tools in a minute; ${perMinute} are let through.`,
        {
          retryAfterSeconds: seconds,
        },
      );
    }
    left -= 1;
  };
};
