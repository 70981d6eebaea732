import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Dialect, sql } from "kysely";
import type { Types } from "../../src/platform/store/migrations/addition.ts";
import { CopyingClient, createPostgresDialect } from "../../src/platform/store/postgres/dialect.ts";
import { createDatabaseDialect } from "../../src/platform/store/sqlite/dialect.ts";
import { createTestPool } from "./postgres.ts";

/** A database for tests that run the migrations themselves. */
export type Unmigrated = { dialect: Dialect; types: Types };

/** Opens an SQLite file in the folder without migrating it. */
export const openUnmigratedSqlite = (folder: string): Unmigrated => ({
  dialect: createDatabaseDialect(new DatabaseSync(join(folder, "steps.db")), {
    exclusive: true,
    retryMs: 0,
  }),
  types: { text: "text", integer: "integer", double: "real" },
});

/** Opens a PostgreSQL database without migrating it. */
export const openUnmigratedPostgres = (url: string): Unmigrated => ({
  dialect: createPostgresDialect(createTestPool({ Client: CopyingClient, connectionString: url })),
  types: { text: sql`text collate "C"`, integer: "bigint", double: "double precision" },
});
