import { Kysely, sql } from "kysely";
import { createPool } from "../../../kit/postgres/pool.ts";
import { guardDialect } from "../engine/guard.ts";
import type { Db } from "../port.ts";
import type { Tables } from "../tables/schema.ts";
import { createPostgresDialect } from "./dialect.ts";
import { isPostgresOutage } from "./outage.ts";

const CONNECT_MS = 5_000;

/** Reads from a PostgreSQL database over a connection of its own. */
export const inspectPostgres = async <T>(url: string, read: (db: Db) => Promise<T>): Promise<T> => {
  const limits = { connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS };
  const pool = createPool(url, { max: 1, ...limits });
  await using db = new Kysely<Tables>({
    dialect: guardDialect(createPostgresDialect(pool), isPostgresOutage),
  });
  return await read(db);
};

/** Returns the time of the server, in milliseconds since 1970. */
export const readClock = async (db: Db): Promise<number> => {
  const { rows } = await sql<{ at: number }>`
    select cast(extract(epoch from clock_timestamp()) * 1000 as double precision) as at`.execute(
    db,
  );
  return rows[0]?.at ?? Number.NaN;
};
