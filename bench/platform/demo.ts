import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { insertTenant } from "../../src/platform/admin/tenants.ts";
import { openDemoData } from "../../src/platform/demo/data.ts";
import { DEMO_TENANT, insertRows, readDemo } from "../../src/platform/demo/load.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { openSqlite, CACHE } from "../../src/platform/store/sqlite/open.ts";
import { inFolder } from "../folder.ts";
import { type Benchmark, interleaved, wallMs } from "../measure.ts";
import { SIGNING } from "./signing.ts";

const openStore = async (path: string) => {
  const store = await openSqlite(path, SIGNING);
  const needs = { store, clock: systemClock, newId: randomId };
  await store.transaction((tx) => insertTenant(tx, needs, DEMO_TENANT));
  return store;
};

/** Reads the data and writes every row, in one transaction. */
const load = async (path: string): Promise<number> => {
  const store = await openStore(path);
  const ms = await wallMs(async () => {
    const demo = await readDemo(openDemoData(systemClock()));
    await store.transaction(async (tx) => {
      await insertRows(tx, demo);
      await appendEntries(tx, store.auditKey, demo.auditEntries);
    });
  });
  await store.close();
  return ms;
};

type Row = Record<string, string | number | null>;
type Table = { name: string; rows: Row[] };

/** Returns the tables of a loaded file and their rows, without the tenant. */
const tablesOf = (path: string): Table[] => {
  const database = new DatabaseSync(path);
  const names = database
    // Without the tables of the search index, which its triggers fill.
    .prepare("select name from pragma_table_list where type = 'table' and name not like 'sqlite%'")
    .all() as { name: string }[];
  const tables = names
    .filter(({ name }) => name !== "tenants" && !name.startsWith("kysely"))
    .map(({ name }) => ({ name, rows: database.prepare(`select * from ${name}`).all() as Row[] }));
  database.close();
  return tables.filter(({ rows }) => rows.length > 0);
};

/** As many rows in a transaction; making them is not counted. */
const insert = async (path: string, tables: readonly Table[]): Promise<number> => {
  await (await openStore(path)).close();
  const database = new DatabaseSync(path);
  database.exec(`pragma synchronous = full; ${CACHE}`);
  const ms = await wallMs(() => {
    database.exec("begin immediate");
    for (const { name, rows } of tables) {
      const columns = Object.keys(rows[0] ?? {});
      const statement = database.prepare(
        `insert or replace into ${name} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      );
      for (const row of rows) statement.run(...Object.values(row));
    }
    database.exec("commit");
  });
  database.close();
  return ms;
};

export const demoBenchmarks: readonly Benchmark[] = [
  {
    name: "demo-load",
    about:
      "reading the demo tenant's data and writing its rows / prepared inserts of the same rows",
    unit: "ms",
    aim: 3,
    run: ({ runs }) =>
      inFolder(async (folder) => {
        let made = 0;
        const inFresh = (act: (path: string) => Promise<number>): Promise<number> => {
          made += 1;
          return act(join(folder, String(made), "platform.db"));
        };
        const loaded = join(folder, "loaded", "platform.db");
        await load(loaded);
        const tables = tablesOf(loaded);
        const raw = (path: string): Promise<number> => insert(path, tables);
        return interleaved({ ours: () => inFresh(load), base: () => inFresh(raw) }, { runs });
      }),
  },
];
