import { LRUCache } from "lru-cache";
import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import { errorFields } from "../../kit/log.ts";
import { type Caller, requireCaller } from "../caller.ts";
import type { ServerOptions } from "../server.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { FindHandlers, Handlers } from "../handlers.ts";

/** For how many callers at once work is kept ready, and for how long without a request from them. */
export type CallerLimits = { most: number; idleMs: number };

export const CALLER_LIMITS: CallerLimits = { most: 500, idleMs: 30 * MINUTE };

export type Callers = {
  /** What works for the caller of a request, and for nobody else, as long as `use` takes. */
  find: FindHandlers;
  count(): number;
  /** Closes what nobody has used for too long; it happens each minute by itself. */
  sweep(): void;
  /** Resolves once everything is closed. */
  close(): Promise<void>;
};

type Ready = { needs: ToolContext; work: Handlers };
type Kept = {
  ready: Promise<Ready>;
  /** What it was made of, and when that was last looked at. */
  stamp: string;
  lookedAt: number;
  /** Requests under way: what is in use is not closed, only forgotten. */
  uses: number;
  forgotten: boolean;
};

/** How long a caller may go on with what has been replaced: a profile's new credential holds after that. */
const LOOK_EVERY_MS = SECOND;

export type CallersNeeds = { front: ServerOptions; now: Clock };

/** Each caller's own credential, session with the platform, and everything built on them: made once, closed when idle. */
export const createCallers = (
  { front: { open, stampOf, log }, now }: CallersNeeds,
  { most, idleMs }: CallerLimits = CALLER_LIMITS,
): Callers => {
  const closing = new Set<Promise<void>>();

  const shut = (one: Kept): void => {
    const closed = one.ready
      .then(
        ({ needs }) => needs.broker.close(),
        () => {},
      )
      .catch((error: unknown) => log.warn("caller.close_failed", errorFields(error)))
      .finally(() => closing.delete(closed));
    closing.add(closed);
  };

  const kept = new LRUCache<string, Kept>({
    max: most,
    ttl: idleMs,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now },
    dispose(one) {
      one.forgotten = true;
      if (one.uses === 0) shut(one);
    },
  });
  const timer = setInterval(() => kept.purgeStale(), MINUTE).unref();

  const make = (caller: Caller, stamp: string): Kept => {
    const ready = prepared(open, caller);
    const one: Kept = { ready, stamp, lookedAt: now(), uses: 0, forgotten: false };
    kept.set(caller.id, one);
    one.ready.catch(() => {
      // What could not be opened may be open to the next request.
      if (kept.peek(caller.id) === one) kept.delete(caller.id);
    });
    return one;
  };

  /** What a caller's work is made of by now. While that cannot be read, it is what it was. */
  const look = async (caller: Caller): Promise<string> => {
    try {
      return (await stampOf?.(caller)) ?? "";
    } catch (error) {
      log.warn("caller.unread", errorFields(error));
      return kept.peek(caller.id)?.stamp ?? "";
    }
  };

  /** What is kept for a caller, in use: nobody closes it before it is released. */
  const take = async (caller: Caller): Promise<Kept> => {
    const known = kept.get(caller.id);
    const isFresh = known !== undefined && now() - known.lookedAt < LOOK_EVERY_MS;
    const stamp = isFresh ? known.stamp : await look(caller);
    const still = kept.get(caller.id);
    const one = still?.stamp === stamp ? still : make(caller, stamp);
    if (!isFresh) one.lookedAt = now();
    one.uses += 1;
    return one;
  };

  return {
    async find(asking, use) {
      const caller = requireCaller(asking);
      const one = await take(caller);
      try {
        const { work } = await one.ready;
        return await use(work, caller);
      } finally {
        one.uses -= 1;
        if (one.forgotten && one.uses === 0) shut(one);
      }
    },
    count: () => kept.size,
    sweep: () => kept.purgeStale(),
    async close() {
      clearInterval(timer);
      kept.clear();
      await Promise.all(closing);
    },
  };
};

const prepared = async (open: ServerOptions["open"], caller: Caller): Promise<Ready> => {
  const [{ createHandlers: createWork }, needs] = await Promise.all([
    import("../handlers.ts"),
    open(caller),
  ]);
  return { needs, work: createWork(needs) };
};
