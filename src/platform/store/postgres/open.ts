import { hash } from "node:crypto";
import { Kysely, sql } from "kysely";
import type pg from "pg";
import { SECOND } from "../../../kit/clock.ts";
import { createFairQueue, type FairQueue } from "../../../kit/fair-queue.ts";
import { CHANNEL } from "../../../kit/postgres/changes.ts";
import { Hosts } from "../../../kit/postgres/hosts.ts";
import { migrateLocked } from "../../../kit/postgres/lock.ts";
import { createPool } from "../../../kit/postgres/pool.ts";
import type { SigningNeeds, StoreAuditKey } from "../audit-key.ts";
import { guardDialect } from "../engine/guard.ts";
import { migrate } from "../migrations/migrate.ts";
import { describeUse } from "../engine/turns.ts";
import { type Db, type PoolUse, type Store, StoreUnavailable } from "../port.ts";
import { readAuditKey, createSealing } from "../audit/signing.ts";
import type { Tables } from "../tables/schema.ts";
import { CopyingClient, createPostgresDialect } from "./dialect.ts";
import { isPostgresOutage } from "./outage.ts";
import { PostgresSnapshots } from "./snapshots.ts";

const createDb = (pool: pg.Pool): Db =>
  new Kysely<Tables>({ dialect: guardDialect(createPostgresDialect(pool), isPostgresOutage) });

const createStorePool = (hosts: Hosts, options: Parameters<typeof createPool>[1] = {}): pg.Pool =>
  createPool(hosts, { Client: CopyingClient, ...options });

/**
 * To compare every order of the joins of a dispute takes many times as long as to read it, and longer in a large table.
 * The joins that filters use come first, so that the planner still compares those. PgBouncer may give the setting to
 * another connection; it changes no result.
 */
export const planFewerOrders = (client: pg.ClientBase): Promise<unknown> =>
  client.query("set join_collapse_limit = 5");

/**
 * Writers of one queue wait for each other anyway, so two connections suffice: one writes, one is ready to follow. A
 * queue cannot use up all connections, and some remain for reads.
 */
const WRITERS = { running: 7, runningPerKey: 2, waitingPerKey: 10_000, waitMs: 60 * SECOND };

/** Returns the number of an advisory lock; names that share a number only wait for each other. */
const lockNumber = (name: string): bigint => hash("sha256", name, "buffer").readBigInt64BE(0);

const describePool = ({ totalCount, idleCount, waitingCount, options }: pg.Pool): PoolUse => {
  const busy = totalCount - idleCount;
  return { pool: "connections", busy, free: options.max - busy, waiting: waitingCount };
};

/** Creates the transactions of a store; those of one queue take turns. */
const createTransactions =
  (db: Kysely<Tables>, writers: FairQueue): Store["transaction"] =>
  async (act, queue) => {
    const transaction = db.transaction();
    if (queue === undefined) return transaction.execute(act);
    const leave = await writers.enter(queue).catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
    });
    const lock = sql`select pg_advisory_xact_lock(${lockNumber(queue).toString()}::bigint)`;
    let hasBegun = false;
    return transaction
      .execute(async (tx) => {
        hasBegun = true;
        await lock.execute(tx);
        return act(tx);
      })
      .catch((error: unknown) => {
        // Otherwise each would wait for its turn only to wait for a connection that fails as well.
        if (!hasBegun && error instanceof StoreUnavailable) writers.refuseAll(error);
        throw error;
      })
      .finally(leave);
  };

/** Opens a store in a PostgreSQL database, which other processes may use too. */
export const openPostgres = async (url: string, signing: SigningNeeds): Promise<Store> => {
  const hosts = new Hosts(url);
  const pool = createStorePool(hosts, { prepare: planFewerOrders });
  // Streams may take long; they must not use up the connections of short requests.
  const snapshots = new PostgresSnapshots(createStorePool(hosts));
  const db = createDb(pool);
  const close = async (): Promise<void> => {
    await db.destroy();
    await snapshots.close();
  };
  let auditKey: StoreAuditKey;
  try {
    await migrateLocked(db, (tx) =>
      migrate(
        tx as unknown as Kysely<never>,
        { text: sql`text collate "C"`, integer: "bigint", double: "double precision" },
        createSealing(signing),
        signing.announceUpgrade,
      ),
    );
    auditKey = await readAuditKey(db, signing);
  } catch (error) {
    await close();
    throw error;
  }
  const writers = createFairQueue(WRITERS);
  return {
    dialect: "postgres",
    auditKey,
    read: db,
    transaction: createTransactions(db, writers),
    append: (act) => db.transaction().execute(act),
    counting: db,
    stamp: () => undefined,
    snapshot: (options) => snapshots.open(options),
    pools: () => [
      describePool(pool),
      describeUse("writers", WRITERS.running, writers),
      snapshots.use(),
    ],
    async announce(tx, key) {
      await sql`select pg_notify(${CHANNEL}, ${JSON.stringify([key, ""])})`.execute(tx);
    },
    async ping() {
      await sql`select 1`.execute(db);
    },
    close,
  };
};
