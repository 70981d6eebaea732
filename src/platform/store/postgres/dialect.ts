import { finished } from "node:stream/promises";
import {
  type Dialect,
  type PostgresAdapter,
  type PostgresCursorConstructor,
  PostgresDialect,
  type PostgresPool,
} from "kysely";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import Cursor from "pg-cursor";
import { LockedAdapter } from "../../../kit/postgres/lock.ts";
import type { StoreAdapter } from "../dialect.ts";
import { postgresOperations } from "./operations.ts";

const COPY = /^copy .* from stdin$/;

/** A client that also runs `copy … from stdin`; the statement's one parameter is the text to copy. */
export class CopyingClient extends pg.Client {
  override query(...args: never[]): never {
    const [statement, parameters] = args as unknown as [string, unknown[]];
    const result: unknown =
      typeof statement === "string" && COPY.test(statement)
        ? this.#copy(statement, parameters[0])
        : super.query(...(args as unknown as [string, unknown[]]));
    return result as never;
  }

  async #copy(statement: string, text: unknown) {
    const stream = super.query(copyFrom(statement));
    stream.end(text);
    await finished(stream);
    return { command: "COPY", rowCount: stream.rowCount, rows: [] };
  }
}

class Adapter extends LockedAdapter implements StoreAdapter {
  readonly operations = postgresOperations;
}

// All connections share the adapter, and with it the prepared queries.
const ADAPTER = new Adapter();

class StoreDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return ADAPTER;
  }
}

/** Creates the PostgreSQL dialect over a pool of {@link CopyingClient}. */
export const createPostgresDialect = (
  pool: PostgresPool,
  cursor: PostgresCursorConstructor = Cursor,
): Dialect => new StoreDialect({ pool, cursor });
