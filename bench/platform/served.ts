import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { cpuMs, wallMs } from "../measure.ts";
import { type Bench, type Ledger, openLedgers } from "./ledger.ts";
import { openPostgresLedgers } from "./postgres-ledgers.ts";

/** A platform with one tenant, and the same database without it. */
export type Served = Bench<readonly [Ledger]> & {
  query(text: string): Promise<unknown>;
  /** Does what PostgreSQL does by itself within a minute after many changes. */
  settle(): Promise<unknown>;
};

const openSqliteBench = async (disputes = 1): Promise<Served> => {
  const bench = await openLedgers([disputes]);
  const [{ tenantId }] = bench.ledgers;
  return {
    ...bench,
    async query(text) {
      const bare = new DatabaseSync(bench.path, { readOnly: true });
      bare.prepare(text).all({ $1: tenantId });
      bare.close();
    },
    async settle() {},
  };
};

const openPostgresBench = async (disputes = 1): Promise<Served> => {
  const bench = await openPostgresLedgers([disputes]);
  const [{ tenantId }] = bench.ledgers;
  const client = new pg.Client(bench.url);
  await client.connect();
  return {
    ...bench,
    query: (text) => client.query(text, [tenantId]),
    settle: () => client.query("vacuum analyze"),
    async close() {
      await client.end();
      await bench.close();
    },
  };
};

/** SQLite works in the process, so that other load on the machine does not change its cost. */
export const STORES = {
  sqlite: { open: openSqliteBench, cost: cpuMs, unit: "ms CPU" },
  postgres: { open: openPostgresBench, cost: wallMs, unit: "ms" },
};

/** Calls the platform with the ingest key. Returns the text of the response. */
export const ask = async (
  { platform, ledgers: [{ ingestKey }] }: Served,
  path: string,
  body?: object,
): Promise<string> => {
  const headers = { "X-API-Key": ingestKey, "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await platform.fetch(new Request(`http://bench${path}`, { headers, ...sent }));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return text;
};
