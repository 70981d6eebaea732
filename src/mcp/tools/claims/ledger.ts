import { type Clock, DAY, MINUTE, SECOND } from "../../../kit/clock.ts";
import type { Wait } from "../../../kit/wait.ts";
import type { ReplayGuard } from "../asking/replay-guard.ts";

/** The dispute of a claim. */
export type OpenedClaim = { disputeId: string; disputeCode: string };

type Needs = { replayGuard: ReplayGuard; now: Clock; wait: Wait };

const POLL_MS = SECOND / 10;
const POLLS = 50;
/** No request takes so long, so an attempt that is older has ended. */
const ATTEMPT_MS = 2 * MINUTE;

/** Returns the end of the next day: claims of one key at about one time have the same expiry. */
const toExpiry = (now: number): number => (Math.floor(now / DAY) + 2) * DAY;

const parseOpened = (content: string): OpenedClaim => {
  const [disputeId = "", ...code] = content.split(" ");
  return { disputeId, disputeCode: code.join(" ") };
};

/** Another call may have sent the same claim, and its outcome is not known; times are epoch milliseconds. */
export type EarlierAttempt = { startedAt: number; isOver: boolean };

/**
 * Remembers for a day which claims were opened, for all processes that share a replay guard. Keys are hashes of claims.
 */
export const createLedger = ({ replayGuard, now, wait }: Needs) => {
  const attemptOf = (key: string): string => `${key}-attempt`;

  const find = async (key: string): Promise<OpenedClaim | undefined> => {
    const content = await replayGuard.read(key);
    return content === undefined ? undefined : parseOpened(content);
  };

  const claimAttempt = (key: string): Promise<boolean> =>
    replayGuard.claim(attemptOf(key), toExpiry(now()), String(now()));

  /** Waits for the outcome of the same claim in another call. */
  const awaitOther = async (
    key: string,
    signal: AbortSignal,
  ): Promise<OpenedClaim | EarlierAttempt | undefined> => {
    for (let poll = 0; ; poll += 1) {
      const opened = await find(key);
      if (opened !== undefined) return opened;
      const startedAt = await replayGuard.read(attemptOf(key));
      if (startedAt === undefined) return undefined;
      const age = now() - Number(startedAt);
      if (age > POLLS * POLL_MS || poll >= POLLS) {
        return { startedAt: Number(startedAt), isOver: age > ATTEMPT_MS };
      }
      await wait.sleep(POLL_MS, signal);
    }
  };

  return {
    find,
    has: async (key: string): Promise<boolean> => (await replayGuard.read(key)) !== undefined,
    /** Remembers that something was done. */
    mark: async (key: string): Promise<void> => {
      await replayGuard.claim(key, toExpiry(now()));
    },
    /**
     * Begins to open a claim; undefined if the caller may go on. Otherwise the claim was opened meanwhile, or the outcome
     * of an earlier attempt is not known.
     */
    async begin(
      key: string,
      signal: AbortSignal,
    ): Promise<OpenedClaim | EarlierAttempt | undefined> {
      while (!(await claimAttempt(key))) {
        const other = await awaitOther(key, signal);
        if (other !== undefined) return other;
      }
      const opened = await find(key);
      if (opened !== undefined) await replayGuard.release(attemptOf(key));
      return opened;
    },
    /** Makes a claim free for another attempt: nothing was opened. */
    release: (key: string): Promise<void> => replayGuard.release(attemptOf(key)),
    async store(key: string, { disputeId, disputeCode }: OpenedClaim): Promise<void> {
      await replayGuard.claim(key, toExpiry(now()), `${disputeId} ${disputeCode}`);
      await replayGuard.release(attemptOf(key));
    },
  };
};

export type Ledger = ReturnType<typeof createLedger>;
