import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/platform/store/port.ts";
import { recordVersion } from "../../src/platform/store/engine/program-versions.ts";
import { listMigrationNames } from "../../src/platform/store/migrations/migrate.ts";
import { finished, startChild } from "../support/child.ts";
import { dialects } from "../support/stores.ts";
import { withSteps } from "../support/unmigrated.ts";
import { verifies } from "../support/verifies.ts";

/** The last step of version 0.1.0. */
const RELEASED = "0009-oauth";

type Column = { type: string; isRequired: boolean };
type Schema = Map<string, Column>;

/** Returns the columns by table and name; required are those that a former program must have known to insert a row. */
const readSchema = async (db: Db): Promise<Schema> => {
  const tables = await db.introspection.getTables();
  return new Map(
    tables.flatMap(({ name, columns }) =>
      columns.map((column): [string, Column] => [
        `${name}.${column.name}`,
        {
          type: column.dataType,
          isRequired: !column.isNullable && !column.hasDefaultValue && !column.isAutoIncrementing,
        },
      ]),
    ),
  );
};

const listSteps = async (db: Db) =>
  (
    await sql<{ name: string; timestamp: string }>`select name, timestamp from kysely_migration
      order by name`.execute(db)
  ).rows;

/** Lists what a program that knows `before` cannot do with `after`. */
const listBreaks = (before: Schema, after: Schema): string[] => {
  const tables = new Set([...before.keys()].map((name) => name.split(".")[0]));
  const lost = [...before].flatMap(([name, { type }]) =>
    after.get(name)?.type === type ? [] : [`${name} is not ${type} any more`],
  );
  const required = [...after].flatMap(([name, { isRequired }]) =>
    isRequired && before.get(name)?.isRequired !== true && tables.has(name.split(".")[0])
      ? [`${name} is required`]
      : [],
  );
  return [...lost, ...required];
};

verifies("OP-25");
describe.each(dialects)("the schema ($name)", (one) => {
  it("fits the release before after each step since 0.1.0", async () => {
    await withSteps(one, async (db, migrateTo) => {
      const names = listMigrationNames();
      await migrateTo(RELEASED);
      let before = await readSchema(db);
      const breaks: string[] = [];
      for (const name of names.slice(names.indexOf(RELEASED) + 1)) {
        await migrateTo(name);
        const after = await readSchema(db);
        breaks.push(...listBreaks(before, after).map((what) => `${name}: ${what}`));
        before = after;
      }
      expect(breaks).toEqual([]);
      expect(before.size).toBeGreaterThan(200);
    });
  });

  it("is brought up to date once by programs that start at once", async () => {
    await withSteps(one, async (db, migrateTo, { environment }) => {
      await migrateTo(RELEASED);
      const path = join(environment["RECEIVABLES_DATA"] ?? "", "receivables.db");
      const script = new URL("open-child.ts", import.meta.url);
      const start = () => finished(startChild(script, [path, "20"], environment));
      await Promise.all([start(), start()]);
      expect((await listSteps(db)).map(({ name }) => name)).toEqual(listMigrationNames());
      const { rows } = await sql<{ count: number | string }>`select count from counters
        where key = 'shared'`.execute(db);
      expect(rows.map(({ count }) => Number(count))).toEqual([40]);
    });
  });

  it.each(["with all steps", "without the last step"])(
    "is refused unchanged %s of this program if a later one has changed it",
    async (state) => {
      const database = await one.createMigrated();
      try {
        const store = await database.open();
        await store.transaction(async (tx) => {
          await recordVersion(tx, "0.1.0", 1);
          await recordVersion(tx, "9.8.7", 2);
          await recordVersion(tx, "0.1.0", 3);
          if (state.startsWith("without")) {
            await sql`delete from kysely_migration
              where name = ${listMigrationNames().at(-1)}`.execute(tx);
          }
          await sql`insert into kysely_migration (name, timestamp)
            values ('9999-later', '2999-01-01T00:00:00.000Z')`.execute(tx);
        });
        const read = async () => [await readSchema(store.read), await listSteps(store.read)];
        const before = await read();
        const announced: string[] = [];
        await expect(database.open((steps) => announced.push(...steps))).rejects.toThrow(
          "The store is newer than this program: version 9.8.7 has applied 9999-later. Run that version or a later one, or use another data folder",
        );
        expect([await read(), announced]).toEqual([before, []]);
        await store.close();
      } finally {
        await database.remove();
      }
    },
  );

  it("of the sign-in is refused unchanged if a later program has changed it", async () => {
    const database = await one.create();
    try {
      const store = await database.openOauth();
      const applied = sql<{ name: string }>`select name from sign_in_migrations order by name`;
      await store.transaction(async (tx) => {
        await sql`insert into sign_in_migrations (name, timestamp)
          values ('9999-later', '2999-01-01T00:00:00.000Z')`.execute(tx);
      });
      const before = (await applied.execute(store.read)).rows;
      await expect(database.openOauth()).rejects.toThrow(
        "The tables of the sign-in are newer than this program: a later version has applied 9999-later. Run that version or a later one, or use another data folder",
      );
      expect((await applied.execute(store.read)).rows).toEqual(before);
      await store.close();
    } finally {
      await database.remove();
    }
  });
});

it("breaks of the schema are found", () => {
  const before: Schema = new Map([["t.a", { type: "text", isRequired: true }]]);
  const added = { type: "text", isRequired: true };
  expect(listBreaks(before, new Map([["t.b", added]]))).toEqual([
    "t.a is not text any more",
    "t.b is required",
  ]);
  expect(listBreaks(before, new Map([...before, ["other.b", added]]))).toEqual([]);
});
