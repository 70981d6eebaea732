import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { administer, startPostgres } from "./postgres.ts";
import { signingIn } from "./signing.ts";
import { findFastFolder } from "./temporary-folder.ts";

export type Templates = {
  /** Holds the migrated SQLite files and the master key of both templates. */
  folder: string;
  /** The name of the migrated PostgreSQL database. */
  database: string;
};

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
    templates: Templates;
    /** Set by the project in `vitest.config.ts`. */
    runsWholeSeries: boolean;
  }
}

/**
 * The tests end the project's processes, never the server or the machine, so nothing has to survive in the server's
 * write-ahead log.
 */
const FAST = [
  "max_connections=200",
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "wal_level=minimal",
  "max_wal_senders=0",
  "max_wal_size=256MB",
];

/** Migrates one database of each kind. Copies of them cost a fraction of the migrations. */
const createTemplates = async (url: string): Promise<Templates> => {
  const folder = mkdtempSync(join(findFastFolder(), "receivables-template-"));
  const sqlite = await openSqlite(join(folder, "receivables.db"), signingIn(folder));
  await sqlite.close();
  const database = "migrated";
  await administer(url, `create database ${database}`);
  const postgres = await openPostgres(new URL(database, url).href, signingIn(folder));
  await postgres.close();
  return { folder, database };
};

/** Starts one PostgreSQL server for the run; each store gets a database of its own in it. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const { url, stop } = await startPostgres(FAST);
  const templates = await createTemplates(url);
  project.provide("postgresUrl", url);
  project.provide("templates", templates);
  return async () => {
    await stop();
    rmSync(templates.folder, { recursive: true, force: true });
  };
};
