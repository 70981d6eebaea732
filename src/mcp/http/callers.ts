import { LRUCache } from "lru-cache";
import type { Changes } from "../../kit/changes.ts";
import { type Clock, HOUR, MINUTE, SECOND } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import type { HeldRights } from "../../broker/held-rights.ts";
import { type Caller, findCaller, type RequestAuth } from "../caller.ts";
import type { FindHandlers, Handlers } from "../handlers.ts";
import type { RightsSource } from "../lists.ts";
import type { ServerOptions } from "../server.ts";
import type { ToolContext } from "../tools/tool-context.ts";

/** Cached callers: how many, and how long one may be idle, in milliseconds. */
export type CallerLimits = { max: number; idleMs: number };

const CALLER_LIMITS: CallerLimits = { max: 500, idleMs: 30 * MINUTE };

export type Callers = {
  /** Gives `use` the handlers of the request's caller, and keeps them open until `use` settles. */
  find: FindHandlers;
  /** The known rights of callers; opens the callers of requests. */
  rights: RightsSource;
  /** The tenant of an open caller; undefined for one that is not open. */
  tenantOf(callerId: string): string | undefined;
  count(): number;
  /** Closes idle callers; also runs every minute. */
  sweep(): void;
  /** Resolves after every caller is closed. */
  close(): Promise<void>;
};

type Ready = { context: ToolContext; handlers: Handlers };
type Entry = {
  /** Known once the caller is open. */
  tenantId: string | undefined;
  ready: Promise<Ready>;
  /** The value of `stampOf` that the entry was opened with, and when it was last compared. */
  stamp: string;
  checkedAt: number;
  /** Requests in progress. An evicted entry is closed after the last of them. */
  uses: number;
  evicted: boolean;
};

/** Time for which a caller may use replaced credentials, in milliseconds. */
const CHECK_EVERY_MS = SECOND;

/** `changes`: announcements between the nodes that share callers. */
export type CallersNeeds = {
  serverOptions: ServerOptions;
  now: Clock;
  changes?: Changes | undefined;
};

type RightsListener = (rights: HeldRights) => void;

type Cache = CallersNeeds & {
  entries: LRUCache<string, Entry>;
  /** Listeners to changes of a caller's rights, by the caller's id. */
  listeners: Map<string, Set<RightsListener>>;
  /** Names this process in announcements. */
  node: string;
};

const openCaller = async (options: ServerOptions, caller: Caller): Promise<Ready> => {
  const [{ createHandlers }, context] = await Promise.all([
    import("../handlers.ts"),
    options.open(caller),
  ]);
  return { context, handlers: createHandlers(context) };
};

/** Closes entries in the background; `done` resolves after all of them. */
const createCloser = (log: Log) => {
  const closing = new Set<Promise<void>>();
  return {
    close({ ready }: Entry): void {
      const closed = ready
        .then(
          ({ context }) => context.broker.close(),
          () => {},
        )
        .catch((error: unknown) => log.warn("caller.close_failed", toErrorFields(error)))
        .finally(() => closing.delete(closed));
      closing.add(closed);
    },
    done: async (): Promise<void> => {
      await Promise.all(closing);
    },
  };
};

/** The key under which a node announces what an answer has shown about a caller's rights. */
const rightsKey = (id: string): string => `held-rights ${id}`;

/** Passes changes of a caller's rights on, to other nodes too: one of them may have the stream to the caller's host. */
const followRights = (
  { listeners, changes, node, serverOptions: { log } }: Cache,
  id: string,
  rights: HeldRights | undefined,
): void => {
  rights?.onChange((how) => {
    for (const listener of listeners.get(id) ?? []) listener(rights);
    // A node learns from its own answers alone, so that two nodes never pass old news to and fro.
    if (how === "adopted") return;
    changes
      ?.announce(rightsKey(id), `${node} ${rights.describe()}`)
      .catch((error: unknown) => log.warn("caller.rights_not_announced", toErrorFields(error)));
  });
};

/** Lost announcements cost a host the notification alone: lists are read with the rights of the moment. */
const RIGHTS_POLL_MS = HOUR;

/** Adopts what other nodes announce about a caller's rights. Call the result to stop. */
const adoptRights = (
  { changes, node, serverOptions: { log } }: Cache,
  find: Callers["find"],
  { http }: RequestAuth,
  id: string,
): (() => void) => {
  const adopt = async (description: string): Promise<void> =>
    find({ http }, async ({ broker }) => broker.rights?.adopt(description));
  const act = (detail = ""): void => {
    const [sender = "", ...description] = detail.split(" ", 3);
    if (description.length === 0 || sender === node) return;
    adopt(description.join(" ")).catch((error: unknown) =>
      log.warn("caller.rights_not_adopted", toErrorFields(error)),
    );
  };
  return changes?.watch(rightsKey(id), act, RIGHTS_POLL_MS) ?? (() => {});
};

const createRightsSource = (find: Callers["find"], cache: Cache): RightsSource => ({
  find: (auth) =>
    find(auth, async ({ broker }) => {
      await broker.learnRights?.();
      return broker.rights;
    }),
  onChange({ http }, listener) {
    const { listeners } = cache;
    const id = findCaller(http?.authInfo)?.id ?? "";
    const own = listeners.get(id) ?? new Set();
    listeners.set(id, own.add(listener));
    const stop = adoptRights(cache, find, { http }, id);
    return () => {
      stop();
      own.delete(listener);
      if (own.size === 0 && listeners.get(id) === own) listeners.delete(id);
    };
  },
});

const addEntry = (cache: Cache, caller: Caller, stamp: string): Entry => {
  const { serverOptions, now, entries } = cache;
  const ready = openCaller(serverOptions, caller);
  const entry: Entry = {
    tenantId: undefined,
    ready,
    stamp,
    checkedAt: now(),
    uses: 0,
    evicted: false,
  };
  entries.set(caller.id, entry);
  const settle = async (): Promise<void> => {
    try {
      const { context } = await ready;
      entry.tenantId = context.broker.tenantId;
      followRights(cache, caller.id, context.broker.rights);
    } catch {
      // The next request tries again.
      if (entries.peek(caller.id) === entry) entries.delete(caller.id);
    }
  };
  void settle();
  return entry;
};

/** Returns the current stamp; if it cannot be read, the one of the entry. */
const readStamp = async ({ serverOptions, entries }: Cache, caller: Caller): Promise<string> => {
  try {
    return (await serverOptions.stampOf?.(caller)) ?? "";
  } catch (error) {
    serverOptions.log.warn("caller.unread", toErrorFields(error));
    return entries.peek(caller.id)?.stamp ?? "";
  }
};

/** Returns the caller's entry, with this use counted. */
const acquireEntry = async (cache: Cache, caller: Caller): Promise<Entry> => {
  const { entries, now } = cache;
  const known = entries.get(caller.id);
  const isFresh = known !== undefined && now() - known.checkedAt < CHECK_EVERY_MS;
  const stamp = isFresh ? known.stamp : await readStamp(cache, caller);
  // Another request may have replaced the entry meanwhile.
  const current = entries.get(caller.id);
  const entry = current?.stamp === stamp ? current : addEntry(cache, caller, stamp);
  if (!isFresh) entry.checkedAt = now();
  entry.uses += 1;
  return entry;
};

/** Caches each caller's credentials, platform session and handlers, and closes them when the caller is idle. */
export const createCallers = (
  { serverOptions, now, changes }: CallersNeeds,
  { max, idleMs }: CallerLimits = CALLER_LIMITS,
): Callers => {
  const closer = createCloser(serverOptions.log);
  const entries = new LRUCache<string, Entry>({
    max,
    ttl: idleMs,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now },
    dispose(entry) {
      entry.evicted = true;
      if (entry.uses === 0) closer.close(entry);
    },
  });
  const timer = setInterval(() => entries.purgeStale(), MINUTE).unref();
  const node = randomToken();
  const cache: Cache = { serverOptions, now, changes, entries, listeners: new Map(), node };
  const find: FindHandlers = async ({ http }, use) => {
    const caller = findCaller(http?.authInfo);
    if (caller === undefined) throw new Error("The request is not authenticated.");
    const entry = await acquireEntry(cache, caller);
    try {
      return await use((await entry.ready).handlers, caller);
    } finally {
      entry.uses -= 1;
      if (entry.evicted && entry.uses === 0) closer.close(entry);
    }
  };
  return {
    find,
    rights: createRightsSource(find, cache),
    tenantOf: (callerId) => entries.peek(callerId)?.tenantId,
    count: () => entries.size,
    sweep: () => entries.purgeStale(),
    async close() {
      clearInterval(timer);
      entries.clear();
      await closer.done();
    },
  };
};
