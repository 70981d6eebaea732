import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { runsKey } from "../../contract/changes.ts";
import type { Changes } from "../../kit/changes.ts";
import { type Clock, HOUR, MINUTE, SECOND } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import type { Wait } from "../../kit/wait.ts";
import type { RunAddress } from "./address.ts";

/** State of a schedule's newest runs. */
export type RunsState = {
  /** Ids of the runs that completed, failed or were canceled. */
  ended: readonly string[];
  isUnderWay: boolean;
  /** Time of the next run in milliseconds since the epoch; null if none is scheduled. */
  nextRunAt: number | null;
};

export type ReadRuns = (signal: AbortSignal) => Promise<RunsState>;

/** Polling intervals in milliseconds, and the number of schedules. */
export const WATCH_LIMITS = {
  /** Watched schedules per caller: as many as a tenant can have. */
  max: 100,
  /** First poll after a run is due. */
  dueMs: 2 * SECOND,
  /** Longest interval while a run is due or under way. */
  runningMs: 30 * SECOND,
  /** First retry after a failed poll. */
  failedMs: 5 * SECOND,
  /** Longest interval while no run is due. */
  idleMs: HOUR,
  /** Longest interval while polls fail. */
  brokenMs: 5 * MINUTE,
};

export type Subscription = {
  /** Resolves after the first poll; rejects if it fails. */
  begun: Promise<RunsState>;
  end(): void;
};

export type Watches = {
  /** Calls `notify` whenever a run of the schedule, or the named run, ends, until the returned watch is ended. */
  subscribe(
    caller: string,
    address: RunAddress,
    { read, notify }: { read: ReadRuns; notify: () => void },
  ): Subscription;
  /** Returns the number of watched schedules. */
  count(): number;
  close(): void;
};

type Subscriber = { runId: string | undefined; notify: () => void };
type Watch = {
  begun: Promise<RunsState>;
  subscribers: Set<Subscriber>;
  stop: AbortController;
  /** Polls at once. */
  wake(): void;
};
type WatchDependencies = {
  now: Clock;
  wait: Wait;
  log: Log;
  /** Announcements of ended runs; polls remain the safety net. */
  changes?: Pick<Changes, "watch"> | undefined;
};

const GROWTH = 1.5;
// Jitter of up to a quarter, so that servers that wait for the same slot do not poll at the same time.
const SPREAD = 0.25;

const isGone = (error: unknown): boolean => error instanceof ResourceNotFoundError;

const isDue = ({ isUnderWay, nextRunAt }: RunsState, now: number): boolean =>
  isUnderWay || (nextRunAt !== null && nextRunAt <= now);

/**
 * Returns the milliseconds until the next poll; undefined if no run can end any more. `unchanged` counts the polls in a
 * row that failed, or found no change although a run was due.
 */
const nextPollMs = (
  state: RunsState | undefined,
  unchanged: number,
  now: number,
): number | undefined => {
  const { brokenMs, failedMs, runningMs, dueMs, idleMs } = WATCH_LIMITS;
  if (state === undefined) return Math.min(brokenMs, failedMs * 2 ** unchanged);
  if (isDue(state, now)) return Math.min(runningMs, dueMs * GROWTH ** unchanged);
  const { nextRunAt } = state;
  return nextRunAt === null ? undefined : Math.min(idleMs, nextRunAt - now + dueMs);
};

/** Returns undefined if the platform fails; throws if the schedule is gone or the watch was stopped. */
const poll = async (
  read: ReadRuns,
  signal: AbortSignal,
  log: Log,
): Promise<RunsState | undefined> => {
  try {
    return await read(signal);
  } catch (error) {
    if (signal.aborted || isGone(error)) throw error;
    log.warn("watch.failed", toErrorFields(error));
    return undefined;
  }
};

const notifySubscribers = ({ subscribers }: Watch, ended: readonly string[]): void => {
  if (ended.length === 0) return;
  for (const { runId, notify } of subscribers) {
    if (runId === undefined || ended.includes(runId)) notify();
  }
};

/** Creates a sleep that ends early when it is woken. */
const createSleep = (wait: Wait, signal: AbortSignal) => {
  let woken = new AbortController();
  return {
    wake: (): void => woken.abort(),
    async sleep(ms: number): Promise<void> {
      await wait.sleep(ms, AbortSignal.any([signal, woken.signal])).catch((error: unknown) => {
        if (!woken.signal.aborted || signal.aborted) throw error;
      });
      woken = new AbortController();
    },
  };
};

/** Polls until no run can end any more, the schedule is gone or the watch is stopped. */
const follow = async (
  { now, wait, log }: WatchDependencies,
  watch: Watch,
  read: ReadRuns,
): Promise<void> => {
  const { signal } = watch.stop;
  const { sleep, wake } = createSleep(wait, signal);
  watch.wake = wake;
  let state = await watch.begun.catch((error: unknown) => {
    if (isGone(error)) throw error;
    return undefined;
  });
  let seen = new Set(state?.ended);
  let unchanged = 0;
  for (;;) {
    const ms = nextPollMs(state, unchanged, now());
    if (ms === undefined) return;
    const wasIdle = state !== undefined && !isDue(state, now());
    await sleep(ms * (1 + SPREAD * wait.chance()));
    state = await poll(read, signal, log);
    const ended = (state?.ended ?? []).filter((id) => !seen.has(id));
    unchanged = wasIdle || ended.length > 0 ? 0 : unchanged + 1;
    if (state === undefined) continue;
    watch.begun = Promise.resolve(state);
    seen = new Set(state.ended);
    notifySubscribers(watch, ended);
  }
};

/** Polls the runs of schedules that have subscribers: one watch for each schedule and caller. */
export const createWatches = (dependencies: WatchDependencies): Watches => {
  const watches = new Map<string, Watch>();

  const start = (key: string, scheduleId: string, read: ReadRuns): Watch => {
    const stop = new AbortController();
    const subscribers = new Set<Subscriber>();
    const watch: Watch = { begun: read(stop.signal), subscribers, stop, wake() {} };
    watches.set(key, watch);
    const ignore = dependencies.changes?.watch(
      runsKey(scheduleId),
      (detail) => {
        if (detail !== undefined) watch.wake();
      },
      WATCH_LIMITS.idleMs,
    );
    if (ignore !== undefined) stop.signal.addEventListener("abort", ignore);
    follow(dependencies, watch, read)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) dependencies.log.info("watch.ended", toErrorFields(error));
      })
      .finally(() => ignore?.());
    return watch;
  };

  const checkLimit = (caller: string): void => {
    const count = [...watches.keys()].filter((key) => key.startsWith(`${caller}\n`)).length;
    if (count < WATCH_LIMITS.max) return;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `At most ${WATCH_LIMITS.max} schedules can be watched at a time; unsubscribe from one first.`,
    );
  };

  return {
    subscribe(caller, { scheduleId, runId }, { read, notify }) {
      const key = `${caller}\n${scheduleId}`;
      if (!watches.has(key)) checkLimit(caller);
      const watch = watches.get(key) ?? start(key, scheduleId, read);
      const subscriber = { runId, notify };
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
