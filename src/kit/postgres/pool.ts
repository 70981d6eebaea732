import pg from "pg";

/** Time limit for opening a connection or waiting for a free one. */
export const CONNECT_MS = 10_000;

const INT8 = 20;

// All integers of the stores fit a double; pg returns bigint as text by default.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
};

/** Creates a pool of connections. */
export const createPool = (connectionString: string, options: pg.PoolConfig = {}): pg.Pool => {
  const pool = new pg.Pool({
    connectionString,
    fallback_application_name: "receivables-mcp",
    types,
    connectionTimeoutMillis: CONNECT_MS,
    ...options,
  });
  // A lost connection rejects its query. Without listeners, the error events would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
};
