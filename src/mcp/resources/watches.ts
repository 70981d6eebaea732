import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { type Clock, HOUR, MINUTE, SECOND } from "../../kit/clock.ts";
import { errorFields, type Log } from "../../kit/log.ts";
import type { Wait } from "../../kit/wait.ts";
import type { RunAddress } from "./address.ts";

/** What has become of a schedule's newest runs. */
export type RunsState = {
  /** The ids of those that completed, failed or were canceled. */
  ended: readonly string[];
  isUnderWay: boolean;
  /** When the next one is due; null where there will be none. */
  nextRunAt: number | null;
};

export type ReadRuns = (signal: AbortSignal) => Promise<RunsState>;

/** How often the platform is asked: seldom, except where a run is due or under way. In milliseconds. */
export type WatchLimits = {
  /** How many schedules each caller may have watched; a tenant has no more of them. */
  most: number;
  /** How long after a slot its run is looked for. */
  dueMs: number;
  /** The longest pause while a run is due or under way. */
  runningMs: number;
  failedMs: number;
  /** The longest pauses while nothing is due, and while nothing can be read. */
  idleMs: number;
  brokenMs: number;
};

export const WATCH_LIMITS: WatchLimits = {
  most: 100,
  dueMs: 2 * SECOND,
  runningMs: 30 * SECOND,
  failedMs: 5 * SECOND,
  idleMs: HOUR,
  brokenMs: 5 * MINUTE,
};

export type Watching = {
  /** Resolves once it is known what had ended before; rejects where that could not be read. */
  begun: Promise<unknown>;
  end(): void;
};

export type Watches = {
  /** Calls `told` whenever a run of the schedule, or the one run, has ended, until somebody ends it. */
  begin(
    caller: string,
    address: RunAddress,
    { read, told }: { read: ReadRuns; told: () => void },
  ): Watching;
  /** How many schedules are asked about. */
  count(): number;
  close(): void;
};

type Subscriber = { runId: string | undefined; told: () => void };
type Watch = { begun: Promise<RunsState>; subscribers: Set<Subscriber>; stop: AbortController };

const GROWTH = 1.5;
// Up to a quarter longer, so that many who wait for the same slot do not come at once.
const SPREAD = 0.25;

const isGone = (error: unknown): boolean => error instanceof ResourceNotFoundError;

/** Watches runs for those who subscribe to them: one for each schedule and caller, and only while somebody does. */
export const createWatches = (
  { now, wait, log }: { now: Clock; wait: Wait; log: Log },
  limits: WatchLimits = WATCH_LIMITS,
): Watches => {
  const watches = new Map<string, Watch>();

  const isDue = ({ isUnderWay, nextRunAt }: RunsState): boolean =>
    isUnderWay || (nextRunAt !== null && nextRunAt <= now());

  /** How long to wait before the runs are read again; undefined where nothing can happen any more. */
  const pauseAfter = (state: RunsState | undefined, fruitless: number): number | undefined => {
    if (state === undefined) return Math.min(limits.brokenMs, limits.failedMs * 2 ** fruitless);
    if (isDue(state)) return Math.min(limits.runningMs, limits.dueMs * GROWTH ** fruitless);
    const { nextRunAt } = state;
    return nextRunAt === null
      ? undefined
      : Math.min(limits.idleMs, nextRunAt - now() + limits.dueMs);
  };

  const readAgain = async (read: ReadRuns, signal: AbortSignal): Promise<RunsState | undefined> => {
    try {
      return await read(signal);
    } catch (error) {
      if (signal.aborted || isGone(error)) throw error;
      log.warn("watch.failed", errorFields(error));
      return undefined;
    }
  };

  const tell = ({ subscribers }: Watch, ended: readonly string[]): void => {
    if (ended.length === 0) return;
    for (const { runId, told } of subscribers) {
      if (runId === undefined || ended.includes(runId)) told();
    }
  };

  const follow = async (watch: Watch, read: ReadRuns): Promise<void> => {
    const { signal } = watch.stop;
    let state = await watch.begun.catch((error: unknown) => {
      if (isGone(error)) throw error;
      return undefined;
    });
    let seen = new Set(state?.ended);
    // How often in a row nothing had changed although something was due.
    let fruitless = 0;
    for (;;) {
      const ms = pauseAfter(state, fruitless);
      if (ms === undefined) return;
      const wasIdle = state !== undefined && !isDue(state);
      // oxlint-disable no-await-in-loop -- one after the other is what a watch is
      await wait.sleep(ms * (1 + SPREAD * wait.chance()), signal);
      state = await readAgain(read, signal);
      // oxlint-enable no-await-in-loop
      const ended = (state?.ended ?? []).filter((id) => !seen.has(id));
      fruitless = wasIdle || ended.length > 0 ? 0 : fruitless + 1;
      if (state === undefined) continue;
      watch.begun = Promise.resolve(state);
      seen = new Set(state.ended);
      tell(watch, ended);
    }
  };

  const start = (key: string, read: ReadRuns): Watch => {
    const stop = new AbortController();
    const watch = { begun: read(stop.signal), subscribers: new Set<Subscriber>(), stop };
    watches.set(key, watch);
    follow(watch, read).catch((error: unknown) => {
      if (!stop.signal.aborted) log.info("watch.ended", errorFields(error));
    });
    return watch;
  };

  const checkRoom = (caller: string): void => {
    const count = [...watches.keys()].filter((key) => key.startsWith(`${caller}\n`)).length;
    if (count < limits.most) return;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `At most ${limits.most} schedules can be watched at a time; unsubscribe from one first.`,
    );
  };

  return {
    begin(caller, { scheduleId, runId }, { read, told }) {
      const key = `${caller}\n${scheduleId}`;
      if (!watches.has(key)) checkRoom(caller);
      const watch = watches.get(key) ?? start(key, read);
      const subscriber = { runId, told };
      watch.subscribers.add(subscriber);
      return {
        begun: watch.begun,
        end() {
          watch.subscribers.delete(subscriber);
          if (watch.subscribers.size > 0 || watches.get(key) !== watch) return;
          watches.delete(key);
          watch.stop.abort();
        },
      };
    },
    count: () => watches.size,
    close() {
      for (const { stop } of watches.values()) stop.abort();
      watches.clear();
    },
  };
};
