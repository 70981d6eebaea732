import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { count, findCounter } from "../../src/platform/store/queries/counters.ts";
import { type Db, type Snapshot, type Store, ViewExpired } from "../../src/platform/store/port.ts";
import { Reader } from "../../src/platform/store/sqlite/reader/reader.ts";
import { SqliteSnapshots } from "../../src/platform/store/sqlite/snapshots.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const PER_OWNER = 4;

/** Takes a database a second or so, and gives one row. */
const slowQuery = (db: Db) =>
  sql<{ total: number }>`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 2000000)
    select count(*) as total from numbers`.execute(db);

/** Gives many rows, one at a time. */
const manyRows = (db: Db) =>
  sql<{ n: number }>`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1000000)
    select n from numbers`.compile(db);

/** Whether a transaction still reads an old state of the store. */
const HOLDS_VIEW: Record<Store["dialect"], (store: Store) => Promise<boolean>> = {
  async sqlite(store) {
    await store.transaction((tx) => count(tx, "after the view", 0, 1));
    const { rows } = await sql<{ log: number; checkpointed: number }>`
      pragma wal_checkpoint(passive)`.execute(store.read);
    return rows[0]?.log !== rows[0]?.checkpointed;
  },
  async postgres(store) {
    const { rows } = await sql`
      select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and state like 'idle in transaction%'`.execute(store.read);
    return rows.length > 0;
  },
};

for (const dialect of dialects) {
  describe(`views of the store (${dialect.name})`, () => {
    let store: Store;
    let remove: () => Promise<void>;
    const holdsView = () => HOLDS_VIEW[dialect.name](store);

    beforeAll(async () => {
      const database = await dialect.createMigrated();
      ({ remove } = database);
      store = await database.open();
      await store.transaction((tx) => count(tx, "known", 0, 1000));
    });
    afterAll(async () => {
      await store.close();
      await remove();
    });

    verifies("C-91", "OP-50");
    it("answers a point read and a write while a view runs a long query", async () => {
      const view = await store.snapshot({ owner: "long" });
      const ended: string[] = [];
      const long = slowQuery(view.db).then(() => ended.push("long query"));
      await findCounter(store.read, "known", 0);
      ended.push("point read");
      await store.transaction((tx) => count(tx, "beside", 0, 1000));
      ended.push("write");
      await long;
      expect(ended).toEqual(["point read", "write", "long query"]);
      await view.close();
    });

    verifies("C-91", "OP-50");
    it("shows in a view all changes committed before it was opened", async () => {
      for (let round = 1; round <= 20; round += 1) {
        await store.transaction((tx) => count(tx, "own write", 0, 1000));
        const view = await store.snapshot({ owner: "reader" });
        expect(await findCounter(view.db, "own write", 0)).toMatchObject({ count: round });
        await view.close();
      }
    });

    verifies("C-91", "OP-50");
    it("shows one state in all reads of a parallel view while others write", async () => {
      const writing = new AbortController();
      const write = async (): Promise<void> => {
        while (!writing.signal.aborted) {
          await store.transaction((tx) => count(tx, "busy", 0, 1000));
          await nextTurn();
        }
      };
      const writer = write();
      for (let round = 0; round < 200; round += 1) {
        await using view = await store.snapshot({ owner: "parallel", parallel: true });
        const reads = Array.from({ length: 4 }, () => findCounter(view.db, "busy", 0));
        const [first, ...others] = await Promise.all(reads);
        for (const other of others) expect(other).toEqual(first);
      }
      writing.abort();
      await writer;
      expect(await findCounter(store.read, "busy", 0)).toBeDefined();
    });

    verifies("C-91", "OP-50");
    it("limits the views of one owner, and opens one for another owner at once", async () => {
      const held = await Promise.all(
        Array.from({ length: PER_OWNER }, () => store.snapshot({ owner: "greedy" })),
      );
      const opened: string[] = [];
      const next = store.snapshot({ owner: "greedy" }).then((view) => {
        opened.push("greedy");
        return view;
      });
      const other = await store.snapshot({ owner: "modest" });
      opened.push("modest");
      expect(await findCounter(other.db, "known", 0)).toBeDefined();
      expect(opened).toEqual(["modest"]);
      await held[0]?.close();
      await (await next).close();
      await Promise.all([other, ...held].map((view) => view.close()));
      expect(opened).toEqual(["modest", "greedy"]);
    });

    /** Reads a view's rows until it ends or throws. */
    const readAll = async (view: Snapshot, onRow: () => void): Promise<number> => {
      let rows = 0;
      const query = { compile: () => manyRows(view.db) };
      for await (const _ of view.stream(query)) {
        rows += 1;
        onRow();
      }
      return rows;
    };

    verifies("C-92", "OP-51");
    it("releases an expired view, and refuses later reads of it", async () => {
      const view = await store.snapshot({ owner: "slow", maxMs: 500 });
      await findCounter(view.db, "known", 0);
      expect(await holdsView()).toBe(true);
      await expect.poll(holdsView).toBe(false);
      await expect(findCounter(view.db, "known", 0)).rejects.toBeInstanceOf(ViewExpired);
      await view.close();
      await (await store.snapshot({ owner: "slow" })).close();
    });

    verifies("C-87", "C-92");
    it("stops reading and releases the view when its reader disconnects", async () => {
      const gone = new AbortController();
      const view = await store.snapshot({ owner: "gone", signal: gone.signal });
      let rows = 0;
      const reading = readAll(view, () => {
        rows += 1;
        if (rows === 1000) gone.abort();
      });
      await expect(reading).rejects.toThrow();
      expect(rows).toBeLessThan(5000);
      await expect.poll(holdsView).toBe(false);
      const views = Array.from({ length: PER_OWNER }, () => store.snapshot({ owner: "gone" }));
      for (const one of await Promise.all(views)) await one.close();
    });
  });
}

verifies("C-91", "OP-50");
it("keeps views apart when one is aborted while it gives up a second thread (sqlite)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "views-"));
  const path = join(folder, "a.db");
  using database = new DatabaseSync(path);
  using writer = new DatabaseSync(path);
  writer.exec("pragma journal_mode = wal; create table t (n integer); insert into t values (0)");
  const snapshots = new SqliteSnapshots(path, database);
  const aborting = new AbortController();
  const original = Reader.prototype.ask;
  const ask = vi.spyOn(Reader.prototype, "ask");
  let ends = 0;
  ask.mockImplementation(function (this: Reader, ...[owner, session, request]) {
    // A commit comes between the parts in each try; the last one to end is still on its way when the job is aborted.
    if (request.act === "begin") writer.exec("update t set n = n + 1");
    const reply = original.call(this, owner, session, request);
    if (request.act === "end") ends += 1;
    if (request.act === "end" && ends === 10) aborting.abort();
    return reply;
  });
  const open = snapshots.open({ owner: "job", parallel: true, signal: aborting.signal });
  await expect(open).rejects.toThrow(ViewExpired);
  ask.mockRestore();
  const views = await Promise.all(
    ["a", "b", "c", "d"].map((owner) => snapshots.open({ owner, parallel: true })),
  );
  // Two reads at a time, so that both threads of a view answer.
  const readAll = () =>
    Promise.all(
      [...views, ...views].map(({ db }) => sql<{ n: number }>`select n from t`.execute(db)),
    );
  const before = await readAll();
  writer.exec("update t set n = n + 1");
  expect(await readAll()).toEqual(before);
  await Promise.all(views.map((view) => view.close()));
  await snapshots.close();
  rmSync(folder, { recursive: true });
});

it("releases a view that is aborted while it is being opened (sqlite)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "views-"));
  const path = join(folder, "a.db");
  using database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal; create table t (n integer)");
  const snapshots = new SqliteSnapshots(path, database);
  const aborting = new AbortController();
  const opening = snapshots.open({ owner: "gone", signal: aborting.signal });
  await Promise.resolve();
  aborting.abort();
  const reading = opening.then(({ db }) => sql`select n from t`.execute(db));
  await expect(reading).rejects.toThrow(ViewExpired);
  expect(snapshots.use().busy).toBe(0);
  await snapshots.close();
  rmSync(folder, { recursive: true });
});
