import { SECOND } from "../kit/clock.ts";
import type { Wait } from "../kit/wait.ts";
import { isUnsent, TransportFault } from "./fault.ts";
import type { WireReply } from "./port.ts";
import { retryAfter } from "./retry-after.ts";

const MAX_RETRIES = 2;
const FIRST_PAUSE_MS = 200;
const MAX_WAITING_MS = 5 * SECOND;

/**
 * What may be sent again: anything; what was answered, but not what was lost; what the platform cannot have acted upon;
 * nothing.
 */
export type Repeatable = "always" | "answered" | "unsent" | "never";

export type RetryNeeds = {
  wait: Wait;
  signal: AbortSignal;
  /** How long all tries may take together; half of it at most is spent waiting. */
  requestMs: number;
  now: () => number;
  /** Asked when there is a reason to try again. */
  repeatable: () => Promise<Repeatable>;
};

type Outcome = WireReply | TransportFault;

// A 409 that says when to come back: the first request with the same key is still under way.
const isPassing = (outcome: Outcome, told: number | undefined): boolean => {
  if (outcome instanceof TransportFault) {
    return outcome.kind === "lost" || outcome.kind === "refused" || outcome.kind === "unknown_host";
  }
  if (outcome.status === 409) return told !== undefined;
  return [429, 502, 503, 504].includes(outcome.status);
};

const mayRepeat = (outcome: Outcome, repeatable: Repeatable): boolean => {
  if (repeatable === "always") return true;
  if (repeatable === "never") return false;
  if (outcome instanceof TransportFault) return isUnsent(outcome);
  return repeatable === "answered" || outcome.status === 429;
};

/**
 * Tries a few times where trying again is harmless and soon, and gives the last answer; a longer wait is left to the
 * caller, who is told of it.
 */
export const withRetries = async (
  { wait, signal, requestMs, now, repeatable }: RetryNeeds,
  send: () => Promise<WireReply>,
): Promise<WireReply> => {
  let left = Math.min(MAX_WAITING_MS, requestMs / 2);
  for (let attempt = 0; ; attempt++) {
    const outcome: Outcome = await send().catch((error: unknown) => {
      if (error instanceof TransportFault) return error;
      throw error;
    });
    const told = outcome instanceof TransportFault ? undefined : retryAfter(outcome, now());
    // Spread after the told moment, never before it.
    const base = told === undefined ? FIRST_PAUSE_MS * 2 ** attempt : told * SECOND;
    const pause = base + wait.chance() * FIRST_PAUSE_MS;
    const again =
      attempt < MAX_RETRIES &&
      pause <= left &&
      isPassing(outcome, told) &&
      mayRepeat(outcome, await repeatable());
    if (!again) {
      if (outcome instanceof TransportFault) throw outcome;
      return outcome;
    }
    left -= pause;
    await wait.sleep(pause, signal).catch((cause: unknown) => {
      throw new TransportFault("canceled", cause);
    });
  }
};
