import { DAY, HOUR, MINUTE } from "../kit/clock.ts";

export const ACCESS_TOKEN_MS = HOUR;

/** Lifetimes in milliseconds. */
export const LIFETIMES = {
  accessToken: ACCESS_TOKEN_MS,
  /** For an unused refresh token; each use issues a new one. */
  refreshToken: 30 * DAY,
  /** After it the person must sign in again. */
  grant: 90 * DAY,
  /** From the client's authorization request to the person's decision. */
  interaction: 15 * MINUTE,
  code: MINUTE,
};
