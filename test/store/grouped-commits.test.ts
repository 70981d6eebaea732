import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDialect, Adapter } from "../../src/kit/sqlite/dialect.ts";
import { WritingDriver } from "../../src/kit/sqlite/driver/writer.ts";

type Tables = { notes: { text: string } };

let folder: string;
let driver: WritingDriver;
let writer: Kysely<Tables>;
let other: DatabaseSync;

const open = (name: string): DatabaseSync => {
  const database = new DatabaseSync(join(folder, name));
  database.exec("pragma journal_mode = wal");
  return database;
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "grouped-commits-"));
  driver = new WritingDriver(open("notes.db"), 0);
  writer = new Kysely({ dialect: createDialect(() => driver, new Adapter()) });
  await sql`create table notes (text text not null unique)`.execute(writer);
  other = open("notes.db");
});
afterEach(async () => {
  await writer.destroy();
  other.close();
  rmSync(folder, { recursive: true });
});

const add = (text: string, act: () => unknown = () => {}): Promise<void> =>
  writer.transaction().execute(async (tx) => {
    await tx.insertInto("notes").values({ text }).execute();
    await act();
  });

const listed = (): unknown[] =>
  other
    .prepare("select text from notes order by text")
    .all()
    .map(({ text }) => text);

const commits = (): number => {
  const row = other.prepare("pragma data_version").get();
  return Number(row?.["data_version"]);
};

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("commits the transactions of one turn of the event loop at once, and answers none before", async () => {
  const before = commits();
  const seen: unknown[][] = [];
  await Promise.all(["a", "b", "c"].map((text) => add(text, () => seen.push(listed()))));
  expect(seen).toEqual([[], [], []]);
  expect(listed()).toEqual(["a", "b", "c"]);
  expect(commits()).toBe(before + 1);
});

it("refuses all transactions within the time of one, while another process keeps the lock", async () => {
  const patient = new WritingDriver(open("notes.db"), 300);
  const waiting = new Kysely<Tables>({ dialect: createDialect(() => patient, new Adapter()) });
  other.exec("begin immediate");
  const began = performance.now();
  const results = await Promise.allSettled(
    ["a", "b", "c", "d", "e"].map((text) =>
      waiting.transaction().execute((tx) => tx.insertInto("notes").values({ text }).execute()),
    ),
  );
  expect(results.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
  expect(performance.now() - began).toBeLessThan(2 * 300);
  other.exec("rollback");
  await waiting.insertInto("notes").values({ text: "f" }).execute();
  expect(listed()).toEqual(["f"]);
  await waiting.destroy();
});

it("undoes only the transaction that fails", async () => {
  const [first, refused, repeated, last] = await Promise.allSettled([
    add("a"),
    add("b", () => {
      throw new Error("refused");
    }),
    add("a"),
    add("c"),
  ]);
  expect([first, last].map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(refused).toMatchObject({ reason: { message: "refused" } });
  expect(repeated).toMatchObject({ reason: { message: expect.stringContaining("UNIQUE") } });
  expect(listed()).toEqual(["a", "c"]);
});

it("commits a transaction that lasts several turns when it ends, before the next one begins", async () => {
  const seen: unknown[][] = [];
  const slow = add("slow", async () => {
    await turn();
    await turn();
  });
  const next = add("next", () => seen.push(listed()));
  await Promise.all([slow, next]);
  expect(seen).toEqual([["slow"]]);
  expect(listed()).toEqual(["next", "slow"]);
});

it("fails every transaction of a commit that fails, and goes on with the next ones", async () => {
  await sql`pragma foreign_keys = on`.execute(writer);
  await sql`create table owned (owner text references notes (text) deferrable initially deferred)`.execute(
    writer,
  );
  const orphan = writer
    .transaction()
    .execute((tx) => sql`insert into owned values ('missing')`.execute(tx));
  const results = await Promise.allSettled([add("a"), orphan, add("b")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(listed()).toEqual([]);
  await add("c");
  expect(listed()).toEqual(["c"]);
});

it("fails the transactions before one whose error rolls back everything", async () => {
  const addOrUndoAll = () =>
    writer
      .transaction()
      .execute((tx) => sql`insert or rollback into notes values ('a')`.execute(tx));
  const results = await Promise.allSettled([add("a"), addOrUndoAll(), add("b")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(listed()).toEqual(["b"]);
});

it("writes nothing of a transaction that goes on after everything was rolled back", async () => {
  const stubborn = writer.transaction().execute(async (tx) => {
    await tx.insertInto("notes").values({ text: "a" }).execute();
    await sql`insert or rollback into notes values ('a')`.execute(tx).catch(() => {});
    await tx.insertInto("notes").values({ text: "later" }).execute();
  });
  await expect(stubborn).rejects.toThrow("UNIQUE");
  expect(listed()).toEqual([]);
});

it("commits a query without a transaction by itself, after those before it", async () => {
  const before = add("a");
  const alone = writer.insertInto("notes").values({ text: "b" }).execute();
  await Promise.all([before, alone]);
  expect(listed()).toEqual(["a", "b"]);
});
