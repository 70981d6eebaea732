import { finished } from "node:stream/promises";
import {
  type Dialect,
  type PostgresAdapter,
  type PostgresCursorConstructor,
  PostgresDialect,
  type PostgresPool,
} from "kysely";
import { from as copyFrom } from "pg-copy-streams";
import Cursor from "pg-cursor";
import { HostClient } from "../../../kit/postgres/client.ts";
import { LockedAdapter } from "../../../kit/postgres/lock.ts";
import type { StoreAdapter } from "../engine/dialect.ts";
import { postgresOperations } from "./operations.ts";

const COPY = /^copy .* from stdin$/;

/** A client that also runs `copy … from stdin`; the statement's one parameter is the text to copy. */
export class CopyingClient extends HostClient {
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

/** Of a view: its one connection runs one query at a time. */
class ViewAdapter extends Adapter {
  override get supportsMultipleConnections(): boolean {
    return false;
  }
}

// Connections share them, and with them the prepared queries.
const ADAPTER = new Adapter();
const VIEW_ADAPTER = new ViewAdapter();

class StoreDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return ADAPTER;
  }
}

class ViewDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return VIEW_ADAPTER;
  }
}

/** Creates the PostgreSQL dialect over a pool of {@link CopyingClient}. */
export const createPostgresDialect = (pool: PostgresPool): Dialect =>
  new StoreDialect({ pool, cursor: Cursor });

/** Creates the dialect of a view over its one connection. */
export const createViewDialect = (pool: PostgresPool, cursor: PostgresCursorConstructor): Dialect =>
  new ViewDialect({ pool, cursor });
