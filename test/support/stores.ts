import { randomUUID } from "node:crypto";
import { copyFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { openOauthStore } from "../../src/records/open.ts";
import type { OauthStore } from "../../src/records/port.ts";
import type { AnnounceUpgrade } from "../../src/platform/store/migrations/migrate.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { administer } from "./postgres.ts";
import { signingIn } from "./signing.ts";

export type Database = {
  /** Opens the database. A second call gives a second process's view of it. */
  open(announceUpgrade?: AnnounceUpgrade): Promise<Store>;
  /** Opens the built-in sign-in's own store in the same database or folder. */
  openOauth(): Promise<OauthStore>;
  /** The settings by which another process opens it. */
  environment: Record<string, string>;
  remove(): Promise<void>;
};

export type Dialect = {
  name: Store["dialect"];
  /** Creates an empty database, which `open` migrates. */
  create(): Promise<Database>;
  /** Creates a migrated database, by a copy of the run's template. */
  createMigrated(): Promise<Database>;
};

const openOauth = (folder: string, databaseUrl?: string): Promise<OauthStore> =>
  openOauthStore({
    databaseUrl,
    path: join(folder, "oauth.db"),
    platformPath: join(folder, "receivables.db"),
  });

const createFolder = (): string => mkdtempSync(join(tmpdir(), "receivables-store-"));

const sqliteIn = (folder: string): Database => ({
  open: (announceUpgrade) =>
    openSqlite(join(folder, "receivables.db"), { ...signingIn(folder), announceUpgrade }),
  openOauth: () => openOauth(folder),
  environment: { RECEIVABLES_DATA: folder },
  async remove() {
    rmSync(folder, { recursive: true, force: true });
  },
});

const sqlite: Dialect = {
  name: "sqlite",
  create: async () => sqliteIn(createFolder()),
  async createMigrated() {
    const folder = createFolder();
    cpSync(inject("templates").folder, folder, { recursive: true });
    return sqliteIn(folder);
  },
};

const createPostgres = async (folder: string, options = ""): Promise<Database> => {
  const server = inject("postgresUrl");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await administer(server, `create database ${name} ${options}`);
  const { href } = new URL(name, server);
  return {
    open: (announceUpgrade) => openPostgres(href, { ...signingIn(folder), announceUpgrade }),
    openOauth: () => openOauth(folder, href),
    environment: { RECEIVABLES_DATA: folder, DATABASE_URL: href },
    async remove() {
      rmSync(folder, { recursive: true, force: true });
      await administer(server, `drop database ${name} with (force)`);
    },
  };
};

const postgres: Dialect = {
  name: "postgres",
  create: () => createPostgres(createFolder()),
  async createMigrated() {
    const templates = inject("templates");
    const folder = createFolder();
    // The audit key in the database is sealed with the template's master key.
    copyFileSync(join(templates.folder, "secret.key"), join(folder, "secret.key"));
    return createPostgres(folder, `template ${templates.database} strategy file_copy`);
  },
};

/** Every store and platform test runs once for each. */
export const dialects: readonly Dialect[] = [sqlite, postgres];
