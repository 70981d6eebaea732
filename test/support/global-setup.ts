import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { administer, startPostgres } from "./postgres.ts";
import { signingIn } from "./signing.ts";
import { ROOT } from "./sources.ts";
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

/** Builds the program once for the projects whose tests start it by the hundred: see `vitest.config.ts`. */
const buildProgram = async ({ vitest: { projects } }: TestProject): Promise<void> => {
  const [program] = projects.flatMap(({ config: { env } }) => env["TESTED_PROGRAM"] ?? []);
  if (program === undefined) return;
  const folder = dirname(program);
  // A process of its own: what loads this file offers it only a part of `import.meta`.
  await promisify(execFile)(process.execPath, [join(ROOT, "scripts/build.ts"), folder]);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
};

/** Starts one PostgreSQL server for the run; each store gets a database of its own in it. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const [{ url, stop }] = await Promise.all([startPostgres(FAST), buildProgram(project)]);
  const templates = await createTemplates(url);
  project.provide("postgresUrl", url);
  project.provide("templates", templates);
  return async () => {
    await stop();
    rmSync(templates.folder, { recursive: true, force: true });
  };
};
