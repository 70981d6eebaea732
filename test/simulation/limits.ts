import { HOUR, MINUTE } from "../../src/kit/clock.ts";
import type { Sent } from "./client.ts";
import type { Limits } from "./settings.ts";

type Window = { quota: number; ms: number };

/** A window as the interface describes it: the first request opens it, and it counts those that are admitted. */
type Count = { endsAt: number; admitted: number };

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

/**
 * Checks that no window admits more requests than its limit. Requests of one step have no order, so a step during which
 * a window ends, or in which an answer is lost, is not counted exactly: the next window is.
 */
export const createLimitCheck = (limits: Limits) => {
  const counts = new Map<string, Count>();
  /** Until when it is not known which window is open. */
  const unknownUntil = new Map<string, number>();

  const check = (subject: string, { quota, ms }: Window, sent: readonly Sent[]): void => {
    const times = sent.map(({ at }) => at);
    const [first, last] = [Math.min(...times), Math.max(...times)];
    if (first < (unknownUntil.get(subject) ?? 0)) return;
    let count = counts.get(subject);
    const isVague =
      sent.some(({ outcome }) => outcome.kind === "lost") ||
      (count !== undefined && first < count.endsAt && last >= count.endsAt);
    if (isVague) {
      counts.delete(subject);
      unknownUntil.set(subject, Math.max(last, count?.endsAt ?? 0) + ms);
      return;
    }
    if (count === undefined || first >= count.endsAt) count = { endsAt: first + ms, admitted: 0 };
    // Two nodes differ by less than a second or two, and any of them may have opened the window.
    else if (last >= count.endsAt) return;
    count.admitted += sent.filter(isAdmitted).length;
    counts.set(subject, count);
    if (count.admitted > quota) {
      throw new Error(`${count.admitted} requests of ${subject} were admitted, ${quota} may be`);
    }
  };

  return (sent: readonly Sent[]): void => {
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
  };
};
