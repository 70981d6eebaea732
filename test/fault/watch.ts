import { sql } from "kysely";
import type { Store } from "../../src/platform/store/port.ts";
import { recordTables } from "./dump.ts";

// A credential's row is written a moment after each of its uses.
const USED = new Set(["api_keys"]);

const run = (store: Store, statements: readonly string[]): Promise<void> =>
  store.transaction(async (tx) => {
    for (const statement of statements) await sql.raw(statement).execute(tx);
  });

const counted = "update touches set count = count + 1";

const sqliteTrigger = (table: string, act: string): string =>
  `create trigger watch_${table}_${act} after ${act} on ${table} begin ${counted}; end`;

const postgresTrigger = (table: string, act: string): string =>
  `create trigger watch_${table}_${act} after ${act} on ${table} for each row execute function touched()`;

/** Has the database itself count every row of a record that is written, and gives the count. */
export const watchRecords = async (store: Store): Promise<() => Promise<number>> => {
  const tables = await recordTables(store.read);
  const trigger = store.dialect === "sqlite" ? sqliteTrigger : postgresTrigger;
  await run(store, [
    "create table touches (count integer not null)",
    "insert into touches values (0)",
    ...(store.dialect === "sqlite"
      ? []
      : [
          `create function touched() returns trigger language plpgsql as $$ begin ${counted}; return null; end $$`,
        ]),
    ...tables.flatMap((table) =>
      ["insert", "delete", ...(USED.has(table) ? [] : ["update"])].map((act) =>
        trigger(table, act),
      ),
    ),
  ]);
  return async () => {
    const { rows } = await sql<{ count: number }>`select count from touches`.execute(store.read);
    return rows[0]?.count ?? -1;
  };
};
