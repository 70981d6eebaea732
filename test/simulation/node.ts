import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, type KyselyPlugin } from "kysely";
import { createLog } from "../../src/kit/log.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import {
  type Db,
  type Snapshot,
  type Store,
  StoreUnavailable,
} from "../../src/platform/store/port.ts";
import { createDatabaseDialect } from "../../src/platform/store/sqlite/dialect.ts";
import { addFunctions } from "../../src/platform/store/sqlite/reader/functions.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { streamRows } from "../../src/platform/store/engine/stream-rows.ts";
import type { Tables } from "../../src/platform/store/tables/schema.ts";
import { DELAYS_MS, LIFETIMES, MASTER_KEY, TRANSFERS } from "./settings.ts";
import { createGatedFiles } from "./files.ts";
import { type Machine, runOn } from "./machine.ts";
import type { Ports, Wrapper, Wrappers } from "./mistakes.ts";
import type { Life } from "./scheduler.ts";
import type { World } from "./world.ts";

/** A running platform. Two of them share one store and one folder of files. */
export type Node = {
  life: Life;
  platform: Platform;
  store: Store;
  clock(): number;
  /** Runs something as this process. */
  run<T>(act: () => T): T;
  close(): Promise<void>;
};

const createPlugin = (result: () => Promise<void>): KyselyPlugin => ({
  transformQuery: ({ node }) => node,
  async transformResult(answer) {
    await result();
    return answer.result;
  },
});

const READER = { exclusive: false, retryMs: 0 };

type Act<T> = (tx: Db) => Promise<T>;

/** Runs a transaction of a node, whose beginning, commit and end wait for their turn. */
const runInTurns = async <T>(
  world: World,
  life: Life,
  act: Act<T>,
  run: (act: Act<T>) => Promise<T>,
): Promise<T> => {
  await world.scheduler.turn(life, "begins");
  const { scheduler } = world;
  const within = createPlugin(() => scheduler.touch(life, "statement"));
  const attempt = run(async (tx) => {
    const made = await act(tx.withPlugin(within));
    await scheduler.turn(life, "commits");
    if (world.disk.isStoreFull) {
      throw new StoreUnavailable(new Error("database or disk is full"));
    }
    return made;
  });
  const result = await attempt.catch(async (error: unknown) => {
    // Its database was closed between its end and the commit.
    if (life.hasEnded) await new Promise(() => {});
    throw error;
  });
  world.afterCommit(life);
  await scheduler.turn(life, "committed");
  return result;
};

/** The store of a node: the real one, whose calls wait for their turn, and whose long reads need no threads. */
const gateStore = (world: World, life: Life, store: Store, opened: Set<DatabaseSync>): Store => {
  const { scheduler } = world;
  const waiting = (what: string): Db =>
    (what === "counts" ? store.counting : store.read).withPlugin(
      createPlugin(() => scheduler.turn(life, what)),
    );
  const openView = async (): Promise<Snapshot> => {
    await scheduler.turn(life, "view");
    const path = join(world.folder, "receivables.db");
    const database = addFunctions(new DatabaseSync(path, { readOnly: true }));
    opened.add(database);
    database.exec("begin");
    const dialect = createDatabaseDialect(database, READER);
    const db = new Kysely<Tables>({ dialect }).withPlugin(
      createPlugin(() => scheduler.turn(life, "reads a view")),
    );
    const close = async (): Promise<void> => {
      if (opened.delete(database)) database.close();
    };
    const stream: Snapshot["stream"] = (query) => streamRows(db, query);
    return { db, stream, close, [Symbol.asyncDispose]: close };
  };
  return {
    ...store,
    read: waiting("reads"),
    counting: waiting("counts"),
    snapshot: openView,
    transaction: (act, queue) =>
      runInTurns(world, life, act, (held) => store.transaction(held, queue)),
    append: (act) => runInTurns(world, life, act, (held) => store.append(held)),
  };
};

/** Returns a port of a node, with the mistake of the run if it has one there. */
const wrap = <P extends keyof Ports>(
  world: World,
  life: Life,
  name: P,
  port: Ports[P],
): Ports[P] => {
  const wrappers: Wrappers = world.mistake ?? {};
  const wrapper: Wrapper<P> | undefined = wrappers[name];
  return wrapper?.(port, life) ?? port;
};

const createMachine = (world: World, life: Life): Machine => ({
  randomBytes: world.randomBytes,
  monotonic: () => world.scheduler.now,
  setTimer: (callback, ms, repeats) =>
    world.scheduler.setTimer(life, () => runOn(createMachine(world, life), callback), ms, repeats),
  clearTimer: (timer) => world.scheduler.clearTimer(timer),
  yield: () => world.scheduler.turn(life, "yields"),
  request: wrap(world, life, "network", (url, options) =>
    world.outside.request(life, url, options),
  ),
});

const createLife = (name: string, end: () => void): Life => {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  return {
    name,
    hasEnded: false,
    endsAt: 0,
    ended,
    end() {
      end();
      resolve();
    },
  };
};

/** Starts a process over the world's folder. Call it while nothing else runs. */
export const startNode = async (world: World, name: string): Promise<Node> => {
  const { scheduler, outside, tell } = world;
  const opened = new Set<DatabaseSync>();
  let store: Store | undefined;
  const life = createLife(name, () => {
    // Its calls never return, so nothing of it notices that its databases are closed.
    for (const database of opened) database.close();
    void store?.close();
  });
  const machine = createMachine(world, life);
  const clock = (): number => world.timeOf(name);
  const log = createLog("info", (line) => tell(`    ${line.trimEnd()}`), clock);
  const signing = { masterKey: async () => MASTER_KEY, clock, newId: world.newId };
  return runOn(machine, async () => {
    store = await openSqlite(join(world.folder, "receivables.db"), signing);
    const gated = wrap(world, life, "store", gateStore(world, life, store, opened));
    const platform = createPlatform({
      store: gated,
      files: wrap(world, life, "files", createGatedFiles(world, life)),
      clock,
      newId: world.newId,
      log,
      masterKey: MASTER_KEY,
      ...TRANSFERS,
      scanner: wrap(world, life, "scanner", {
        async scan({ open }) {
          await scheduler.turn(life, "scans");
          await (await open()).cancel();
          return { status: "Available", warnings: [] };
        },
      }),
      ...world.keeping,
      lifetimes: LIFETIMES,
      limits: world.limits,
      auditReads: "mcp",
      trustedProxies: [],
      webhooks: {
        hosts: {
          async resolve(host) {
            await scheduler.turn(life, `resolves ${host}`);
            return outside.resolve(host);
          },
          allowed: createNetworks([]),
        },
        delaysMs: wrap(world, life, "delaysMs", DELAYS_MS),
      },
      headerWord: "Platform",
      version: "1.2.3",
    });
    return {
      life,
      platform,
      store: gated,
      clock,
      run: (act) => runOn(machine, act),
      close: () =>
        runOn(machine, async () => {
          await platform.close();
          scheduler.end(life, "its shutdown");
        }),
    };
  });
};
