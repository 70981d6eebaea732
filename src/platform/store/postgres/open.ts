import { createHash } from "node:crypto";
import { type Compilable, Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import Cursor from "pg-cursor";
import type { AuditKey, SigningNeeds } from "../audit-key.ts";
import { guarded, guardedDialect } from "../guard.ts";
import { migrate } from "../migrate.ts";
import type { Db, Snapshot, Store } from "../port.ts";
import { readAuditKey, sealingWith } from "../signing.ts";
import type { Tables } from "../tables.ts";
import { takeCopies } from "./copying.ts";
import { isPostgresOutage } from "./outage.ts";

const INT8 = 20;
const BATCH_ROWS = 200;
// For a connection, new or one that is in use.
const CONNECT_MS = 10_000;

// The store's whole numbers fit a double; pg would hand them over as text.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
};

const kyselyOver = (pool: Pick<pg.Pool, "connect" | "end">): Db =>
  new Kysely<Tables>({
    dialect: guardedDialect(
      new PostgresDialect({ pool: pool as pg.Pool, cursor: Cursor }),
      isPostgresOutage,
    ),
  });

const createPool = (url: string): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    types,
    connectionTimeoutMillis: CONNECT_MS,
  });
  // Whoever uses a connection learns of its loss from the query; unheard, the event would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
    takeCopies(client);
  });
  return pool;
};

/** An advisory lock's number for a name; two names may share one, which only makes them wait. */
const lockNumber = (name: string): bigint =>
  createHash("sha256").update(name).digest().readBigInt64BE(0);

async function* streamRows<Row>(db: Db, query: Compilable<Row>): AsyncIterable<Row> {
  for await (const batch of db.getExecutor().stream<Row>(query.compile(), BATCH_ROWS)) {
    yield* batch.rows;
  }
}

/** A client's queries; a cursor that closes waits for no answer of a lost connection. */
const queryingUntil =
  (lost: Promise<void>, client: pg.PoolClient) =>
  (...asked: [never]): unknown => {
    const result: unknown = client.query(...asked);
    if (!(result instanceof Cursor)) return result;
    const close = () => Cursor.prototype.close.call(result);
    result.close = (() => Promise.race([close(), lost])) as typeof result.close;
    return result;
  };

const openSnapshot = async (pool: pg.Pool): Promise<Snapshot> => {
  const client = await guarded(isPostgresOutage, () => pool.connect());
  let lose = (): void => {};
  const lost = new Promise<void>((resolve) => {
    lose = resolve;
  });
  client.once("end", lose);
  const release = (broken: boolean): void => {
    client.off("end", lose);
    client.release(broken);
  };
  const run = (statement: string): Promise<unknown> =>
    guarded(isPostgresOutage, () => client.query(statement)).catch((error: unknown) => {
      release(true);
      throw error;
    });
  await run("begin isolation level repeatable read read only");
  const query = queryingUntil(lost, client);
  const db = kyselyOver({
    connect: (async () => ({ query, release() {} })) as never,
    end: async () => {},
  });
  return {
    db,
    stream: (rows) => streamRows(db, rows),
    async close() {
      // Nothing was written: where this fails there is nothing to lose but the connection.
      await run("commit").then(
        () => release(false),
        () => {},
      );
    },
  };
};

/** A store in a PostgreSQL database, which other processes use too. */
export const openPostgres = async (url: string, signing: SigningNeeds): Promise<Store> => {
  const pool = createPool(url);
  // Streams may take long; they must not use up the connections of short requests.
  const snapshots = createPool(url);
  const db = kyselyOver(pool);
  const close = async (): Promise<void> => {
    await db.destroy();
    await snapshots.end();
  };
  let auditKey: AuditKey;
  try {
    await migrate(
      db as unknown as Kysely<never>,
      { text: sql`text collate "C"`, integer: "bigint", double: "double precision" },
      sealingWith(signing),
    );
    auditKey = await readAuditKey(db, signing);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    dialect: "postgres",
    auditKey,
    read: db,
    transaction: (act, queue) =>
      db.transaction().execute(async (tx) => {
        if (queue !== undefined) {
          await sql`select pg_advisory_xact_lock(${lockNumber(queue).toString()}::bigint)`.execute(
            tx,
          );
        }
        return act(tx);
      }),
    counting: db,
    stamp: () => undefined,
    snapshot: () => openSnapshot(snapshots),
    async ping() {
      await sql`select 1`.execute(db);
    },
    close,
  };
};
