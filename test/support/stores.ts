import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import type { Store } from "../../src/platform/store/port.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { signingIn } from "./signing.ts";

export type Database = {
  /** Opens it; again gives a second process's view of it. */
  open(): Promise<Store>;
  /** The settings by which another process opens it. */
  environment: Record<string, string>;
  remove(): Promise<void>;
};

export type Dialect = {
  name: Store["dialect"];
  /** A fresh, empty database. */
  create(): Promise<Database>;
};

const sqlite: Dialect = {
  name: "sqlite",
  async create() {
    const folder = mkdtempSync(join(tmpdir(), "receivables-store-"));
    return {
      open: () => openSqlite(join(folder, "receivables.db"), signingIn(folder)),
      environment: { RECEIVABLES_DATA: folder },
      async remove() {
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

const administer = async (statement: string): Promise<void> => {
  const client = new pg.Client(inject("postgresUrl"));
  await client.connect();
  await client.query(statement);
  await client.end();
};

const postgres: Dialect = {
  name: "postgres",
  async create() {
    const name = `test_${randomUUID().replaceAll("-", "")}`;
    await administer(`create database ${name}`);
    const url = new URL(inject("postgresUrl"));
    url.pathname = name;
    const folder = mkdtempSync(join(tmpdir(), "receivables-files-"));
    return {
      open: () => openPostgres(url.href, signingIn(folder)),
      environment: { RECEIVABLES_DATA: folder, DATABASE_URL: url.href },
      async remove() {
        rmSync(folder, { recursive: true, force: true });
        await administer(`drop database ${name} with (force)`);
      },
    };
  },
};

/** Every store and platform test runs once for each. */
export const dialects: readonly Dialect[] = [sqlite, postgres];
