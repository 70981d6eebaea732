import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/platform/store/port.ts";
import { recordVersion } from "../../src/platform/store/engine/program-versions.ts";
import { listMigrationNames } from "../../src/platform/store/migrations/migrate.ts";
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

  it("is refused with its steps and version if a later program has changed it", async () => {
    const database = await one.createMigrated();
    try {
      const store = await database.open();
      await store.transaction(async (tx) => {
        await recordVersion(tx, "0.1.0", 1);
        await recordVersion(tx, "9.8.7", 2);
        await recordVersion(tx, "0.1.0", 3);
        await sql`insert into kysely_migration (name, timestamp)
          values ('9999-later', '2999-01-01T00:00:00.000Z')`.execute(tx);
      });
      await store.close();
      await expect(database.open()).rejects.toThrow(
        "The store is newer than this program: version 9.8.7 has applied 9999-later. Run that version or a later one, or use another data folder",
      );
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
