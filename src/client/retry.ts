import { SECOND } from "../kit/clock.ts";
import type { Wait } from "../kit/wait.ts";
import { type FaultKind, isUnsent, TransportFault } from "./fault.ts";
import type { WireReply } from "./port.ts";
import { parseRetryAfter } from "./retry-after.ts";

const MAX_RETRIES = 2;
const FIRST_PAUSE_MS = 200;
const MAX_WAITING_MS = 5 * SECOND;

/**
 * When a request may be sent again: `always`; `answered`: only after a response, not after a lost connection;
 * `unsent`: only when the platform cannot have acted; `never`.
 */
export type Repeatable = "always" | "answered" | "unsent" | "never";

export type RetryNeeds = {
  wait: Wait;
  signal: AbortSignal;
  /** Time limit of all attempts together in milliseconds; at most half of it is spent waiting. */
  requestMs: number;
  now: () => number;
  /** Called when there is a reason to retry. */
  repeatable: () => Promise<Repeatable>;
};

type Outcome = WireReply | TransportFault;

const TRANSIENT: ReadonlySet<FaultKind> = new Set(["lost", "refused", "unknown_host", "no_proxy"]);

// A 409 with Retry-After: the first request with the same idempotency key is still running.
const isTransient = (outcome: Outcome, retryAfter: number | undefined): boolean => {
  if (outcome instanceof TransportFault) return TRANSIENT.has(outcome.kind);
  if (outcome.status === 409) return retryAfter !== undefined;
  return [429, 502, 503, 504].includes(outcome.status);
};

const mayRepeat = (outcome: Outcome, repeatable: Repeatable): boolean => {
  if (repeatable === "always") return true;
  if (repeatable === "never") return false;
  if (outcome instanceof TransportFault) return isUnsent(outcome);
  return repeatable === "answered" || outcome.status === 429;
};

/**
 * Sends a request and retries it up to twice where a retry is safe and the wait is short. Returns the last response;
 * a longer wait is left to the caller by its Retry-After.
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
    const retryAfter =
      outcome instanceof TransportFault ? undefined : parseRetryAfter(outcome, now());
    // The jitter comes after the requested time, never before it.
    const base = retryAfter === undefined ? FIRST_PAUSE_MS * 2 ** attempt : retryAfter * SECOND;
    const pause = base + wait.chance() * FIRST_PAUSE_MS;
    const again =
      attempt < MAX_RETRIES &&
      pause <= left &&
      isTransient(outcome, retryAfter) &&
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
