import { constants, DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import { expect, it } from "vitest";
import { createDialect, createDriver, Adapter } from "../../src/kit/sqlite/dialect.ts";

type Tables = { notes: { text: string } };

it("compiles the statement of a page once, not for each limit and offset", async () => {
  const database = new DatabaseSync(":memory:");
  const driver = () => createDriver(database, { exclusive: false, retryMs: 0 });
  const db = new Kysely<Tables>({ dialect: createDialect(driver, new Adapter()) });
  await sql`create table notes (text text primary key)`.execute(db);
  await sql`insert into notes values ('a'), ('b'), ('c'), ('d')`.execute(db);
  const page = async (limit: number, offset: number): Promise<string[]> => {
    const all = db.selectFrom("notes").select("text").orderBy("text");
    const rows = await all.limit(limit).offset(offset).execute();
    return rows.map(({ text }) => text);
  };
  let compiled = 0;
  // SQLite asks while it compiles a statement.
  database.setAuthorizer(() => {
    compiled += 1;
    return constants.SQLITE_OK;
  });
  expect(await page(2, 1)).toEqual(["b", "c"]);
  const first = compiled;
  expect(first).toBeGreaterThan(0);
  expect(await page(3, 0)).toEqual(["a", "b", "c"]);
  expect(compiled).toBe(first);
  await db.destroy();
});
