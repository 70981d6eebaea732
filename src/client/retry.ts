import { Problem } from "../contract/errors.ts";
import { SECOND } from "../kit/clock.ts";
import type { Wait } from "../kit/wait.ts";
import { TransportFault } from "./fault.ts";

const MAX_RETRIES = 2;
const FIRST_PAUSE_MS = 200;
const MAX_WAITING_MS = 5 * SECOND;

/** How sure it must be that the first try did nothing: `never` retries nothing, `unsent` only what was not acted upon. */
export type Repeatable = "always" | "unsent" | "never";

const mayRepeat = (error: unknown, repeatable: Repeatable): boolean => {
  if (repeatable === "never") return false;
  if (error instanceof TransportFault) {
    return error.kind === "refused" || (error.kind === "lost" && repeatable === "always");
  }
  if (!(error instanceof Problem)) return false;
  return error.code === "rate_limited" || (error.code === "unavailable" && repeatable === "always");
};

const pauseOf = (error: unknown, attempt: number, chance: number): number => {
  const told = error instanceof Problem ? error.details.retryAfterSeconds : undefined;
  // Spread after the told moment, never before it.
  const base = told === undefined ? FIRST_PAUSE_MS * 2 ** attempt : told * SECOND;
  return base + chance * FIRST_PAUSE_MS;
};

/** Tries a few times where trying again is harmless and soon; a longer wait is left to the caller, who is told of it. */
export const withRetries = async <T>(
  wait: Wait,
  repeatable: Repeatable,
  signal: AbortSignal | undefined,
  act: () => Promise<T>,
): Promise<T> => {
  let left = MAX_WAITING_MS;
  for (let attempt = 0; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      const pause = pauseOf(error, attempt, wait.chance());
      if (attempt === MAX_RETRIES || pause > left || !mayRepeat(error, repeatable)) throw error;
      left -= pause;
      await wait.sleep(pause, signal).catch((cause: unknown) => {
        throw new TransportFault("canceled", cause);
      });
    }
  }
};
