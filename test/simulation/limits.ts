import { HOUR, MINUTE, SECOND } from "../../src/kit/clock.ts";
import type { Sent } from "./client.ts";
import type { Limits } from "./settings.ts";

type Window = { quota: number; ms: number };

/** A window as the interface describes it: the first request opens it, and it counts those that are admitted. */
type Count = {
  /** It ends between these times, because requests of one step have no order. */
  endsFrom: number;
  endsBy: number;
  admitted: number;
};

/** Failed logins that one account admits from one address. */
const GUESSES = { quota: 10, ms: 15 * MINUTE };

const windowsOf = (limits: Limits, as: Sent["as"]): Window[] =>
  (as === "gateway"
    ? [{ quota: limits.gatewayPerMinute, ms: MINUTE }]
    : as === "guess"
      ? [GUESSES]
      : [
          { quota: limits.exportPerMinute, ms: MINUTE },
          { quota: limits.exportPerHour, ms: HOUR },
        ]
  ).filter(({ quota }) => quota > 0);

/** A guess is answered 401 when it was checked. */
const isAdmitted = ({ outcome, as }: Sent): boolean =>
  outcome.kind === "answered" &&
  outcome.status !== 429 &&
  (as === "guess" || outcome.status !== 401);

/** Checks that a refused request is told to wait for the end of a window, which has a bounded length. */
const checkWait = (limits: Limits, { as, number, retryAfter, outcome }: Sent): void => {
  if (outcome.kind === "lost" || outcome.status !== 429) return;
  const longestMs = Math.max(MINUTE, ...windowsOf(limits, as).map(({ ms }) => ms));
  if (retryAfter >= 1 && retryAfter * SECOND <= longestMs) return;
  throw new Error(`request ${number} as ${as} is told to wait for ${retryAfter} s`);
};

/** Whether it is not known if a request was counted. */
const isUnclear = ({ outcome }: Sent): boolean => outcome.kind === "lost" || outcome.status === 503;

/** Returns the window that the first of these requests opens; undefined where none is opened. */
const open = ({ ms }: Window, sent: readonly Sent[]): Count | undefined => {
  // The hour is counted before the minute: a request that the minute refuses opens it, and not the reverse.
  const openers = (ms === HOUR ? sent : sent.filter(isAdmitted)).map(({ at }) => at + ms);
  if (openers.length === 0) return undefined;
  return { endsFrom: Math.min(...openers), endsBy: Math.max(...openers), admitted: 0 };
};

/**
 * Checks that no window admits more requests than its limit. A step during which a window ends, or in which it is not
 * known whether a request was counted, is not counted exactly: counting begins again when no window can be open.
 */
export const createLimitCheck = (limits: Limits) => {
  const counts = new Map<string, Count>();
  /** No window that is open now ends later than this. */
  const unknownUntil = new Map<string, number>();

  const check = (subject: string, window: Window, sent: readonly Sent[]): void => {
    const { quota, ms } = window;
    const times = sent.map(({ at }) => at);
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const until = unknownUntil.get(subject) ?? 0;
    const before = counts.get(subject);
    const ends = before !== undefined && first < before.endsBy && last >= before.endsFrom;
    if (first < until || ends || sent.some(isUnclear)) {
      counts.delete(subject);
      unknownUntil.set(subject, Math.max(until, last + ms, before?.endsBy ?? 0));
      return;
    }
    const isOpen = before !== undefined && first < before.endsBy;
    const count = isOpen ? before : open(window, sent);
    if (count === undefined) return;
    // The node that counts has the window end by its own clock, which may be behind that of the one that opened it.
    count.endsFrom = Math.min(count.endsFrom, first + ms);
    count.admitted += sent.filter(isAdmitted).length;
    counts.set(subject, count);
    if (count.admitted > quota) {
      throw new Error(`${count.admitted} requests of ${subject} were admitted, ${quota} may be`);
    }
  };

  return {
    check(sent: readonly Sent[]): void {
      for (const one of sent) checkWait(limits, one);
      const counted = sent.filter(({ as }) => as !== "visitor");
      const bySubject = Map.groupBy(counted, ({ as, tenantId }) => `${as} ${tenantId}`);
      for (const [subject, group] of bySubject) {
        for (const window of group[0] === undefined ? [] : windowsOf(limits, group[0].as)) {
          check(`${subject} within ${window.ms} ms`, window, group);
        }
      }
      // All guesses come from one address.
      const guesses = sent.filter(({ as }) => as === "guess");
      const atOnce = { quota: limits.loginPerMinute, ms: MINUTE };
      if (guesses.length > 0 && atOnce.quota > 0) check("logins of an address", atOnce, guesses);
    },
    /** Call it when clocks are set back: windows that had ended may be gone, and are open by the clock. */
    forget(): void {
      for (const [subject, { endsBy }] of counts) {
        unknownUntil.set(subject, Math.max(unknownUntil.get(subject) ?? 0, endsBy));
      }
      counts.clear();
    },
  };
};
