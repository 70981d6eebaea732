import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StatementSync } from "node:sqlite";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openSqlite as openOauth } from "../../src/records/sqlite/open.ts";
import { count, findCounter, forget } from "../../src/platform/store/queries/counters.ts";
import { fold } from "../../src/platform/store/engine/fold.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { finished, startChild } from "../support/child.ts";
import { findRows } from "../support/rows.ts";
import { dialects } from "../support/stores.ts";
import { signingIn } from "../support/signing.ts";
import { verifies } from "../support/verifies.ts";

/** Another process, for example one after a crash, reads the log from its beginning. */
const SQLITE_BUSY_RECOVERY = 261;

for (const dialect of dialects) {
  describe(`the store (${dialect.name})`, () => {
    let store: Store;
    let second: Store;
    let remove: () => Promise<void>;
    const counter = (db: Store, key: string) => findCounter(db.read, key, 0);

    beforeAll(async () => {
      const database = await dialect.create();
      ({ remove } = database);
      store = await database.open();
      second = await database.open();
    });
    afterAll(async () => {
      await store.close();
      await second.close();
      await remove();
    });

    it("shows a committed change to every process and a rolled-back one to none", async () => {
      await store.transaction((tx) => count(tx, "kept", 0, 1000));
      const failing = store.transaction(async (tx) => {
        await count(tx, "lost", 0, 1000);
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      for (const view of [store, second]) {
        expect(await counter(view, "kept")).toMatchObject({ count: 1 });
        expect(await counter(view, "lost")).toBeUndefined();
      }
    });

    it("does not show a change before it is committed", async () => {
      await store.transaction(async (tx) => {
        await count(tx, "hidden", 0, 1000);
        expect(await counter(store, "hidden")).toBeUndefined();
        expect(await counter(second, "hidden")).toBeUndefined();
      });
      expect(await counter(second, "hidden")).toBeDefined();
    });

    it("has another stamp after each change of any process, and the same one after audit entries", async () => {
      if (store.dialect === "postgres") return expect(store.stamp()).toBeUndefined();
      const stamps = [store.stamp()];
      const change = async (changed: Store, key: string): Promise<void> => {
        await changed.transaction((tx) => count(tx, key, 0, 1000));
        stamps.push(store.stamp());
      };
      await change(store, "own");
      await change(second, "another's");
      await change(store, "own again");
      expect(new Set(stamps).size).toBe(stamps.length);
      const before = store.stamp();
      await store.append(async (tx) => void (await count(tx, "appended", 0, 1000)));
      expect(await counter(store, "appended")).toBeDefined();
      expect(store.stamp()).toBe(before);
    });

    it("has no stamp while another process keeps it from reading one", () => {
      if (store.dialect === "postgres") return;
      const get = vi.spyOn(StatementSync.prototype, "get").mockImplementationOnce(() => {
        throw Object.assign(new Error("database is locked"), { errcode: SQLITE_BUSY_RECOVERY });
      });
      expect(store.stamp()).toBeUndefined();
      get.mockRestore();
      expect(store.stamp()).toBeDefined();
    });

    it("queues writers, so that read-modify-write loses no change", async () => {
      const bump = (db: Store) =>
        db.transaction(async (tx) => {
          const row = await findCounter(tx, "bumped", 0);
          await forget(tx, "bumped");
          await tx
            .insertInto("counters")
            .values({ key: "bumped", count: (row?.count ?? 0) + 1, window_ends_at: 1 })
            .execute();
        }, "one queue");
      await Promise.all(Array.from({ length: 40 }, () => bump(store)));
      expect(await counter(store, "bumped")).toMatchObject({ count: 40 });
    });

    it("counts in fixed windows", async () => {
      const at = async (now: number) =>
        (await store.transaction((tx) => count(tx, "w", now, 100))).count;
      expect([await at(0), await at(50), await at(99), await at(100), await at(150)]).toEqual([
        1, 2, 3, 1, 2,
      ]);
    });

    it("keeps a snapshot unchanged while others write, and streams all of it", async () => {
      await store.transaction(async (tx) => {
        for (let number = 0; number < 1000; number++) await count(tx, `s${number}`, 0, 5000);
      });
      const snapshot = await store.snapshot({ owner: "test" });
      const rows = snapshot.stream(
        snapshot.db
          .selectFrom("counters")
          .selectAll()
          .where("window_ends_at", "=", 5000)
          .orderBy("key"),
      );
      const seen: string[] = [];
      for await (const row of rows) {
        if (seen.length === 0) {
          await store.transaction((tx) =>
            tx.deleteFrom("counters").where("window_ends_at", "=", 5000).execute(),
          );
        }
        seen.push(row.key);
      }
      await snapshot.close();
      expect(seen).toHaveLength(1000);
      expect(await counter(store, "s1")).toBeUndefined();
    });

    it("releases a snapshot that was not read to its end", async () => {
      await store.transaction((tx) => count(tx, "left", 0, 7000));
      for (let round = 0; round < 10; round++) {
        const snapshot = await store.snapshot({ owner: "test" });
        for await (const row of snapshot.stream(snapshot.db.selectFrom("counters").selectAll())) {
          expect(row.key).toBeTypeOf("string");
          break;
        }
        await snapshot.close();
      }
      await store.transaction((tx) => count(tx, "after", 0, 1000));
      const fresh = await store.snapshot({ owner: "test" });
      const found = await findCounter(fresh.db, "after", 0);
      await fresh.close();
      expect(found).toBeDefined();
    });

    it("orders text by code point, folds case in the program and stores every character", async () => {
      const words = ["z", "Z", "é", "a", "ä", "B", "😀", "\uff21"];
      await store.transaction(async (tx) => {
        for (const word of words) await count(tx, `order:${word}`, 0, 9000);
      });
      const rows = await findRows(store.read, "counters", { window_ends_at: 9000 }, "key");
      expect(rows.map((row) => row.key.slice(6))).toEqual([
        "B",
        "Z",
        "a",
        "z",
        "ä",
        "é",
        "\uff21",
        "😀",
      ]);
      expect(fold("E\u0301LAN")).toBe("élan");
    });

    it("refuses values that a column cannot hold instead of storing something else", async () => {
      const put = (value: unknown) =>
        store.transaction((tx) =>
          tx
            .insertInto("counters")
            .values({ key: "odd", count: value as number, window_ends_at: 0 })
            .execute(),
        );
      for (const value of [new Date(0), { a: 1 }, undefined]) {
        await expect(put(value)).rejects.toThrow();
      }
      expect(await counter(store, "odd")).toBeUndefined();
    });

    it("answers a ping while it is open", async () => {
      await expect(store.ping()).resolves.toBeUndefined();
    });
  });
}

describe("the SQLite file", () => {
  const folder = mkdtempSync(join(tmpdir(), "receivables-file-"));
  const path = join(folder, "platform.db");

  verifies("C-07");
  it("can be opened for the first time by several processes at once, without losing writes", async () => {
    const script = new URL("open-child.ts", import.meta.url);
    await Promise.all(Array.from({ length: 4 }, () => finished(startChild(script, [path, "100"]))));
    const store = await openSqlite(path, signingIn(folder));
    expect(await findCounter(store.read, "shared", 0)).toMatchObject({ count: 400 });
    const [check] = (
      await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.read)
    ).rows;
    expect(check?.integrity_check).toBe("ok");
    const [mode] = (await sql<{ journal_mode: string }>`pragma journal_mode`.execute(store.read))
      .rows;
    const [sync] = (await sql<{ synchronous: number }>`pragma synchronous`.execute(store.read))
      .rows;
    const [keys] = (await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(store.read))
      .rows;
    expect([mode?.journal_mode, sync?.synchronous, keys?.foreign_keys]).toEqual(["wal", 2, 1]);
    await store.close();
  });

  it("has no log beside it once the store is closed, even where nothing was asked", async () => {
    const at = (name: string) => join(folder, name);
    for (const open of [
      () => openSqlite(at("unused.db"), signingIn(folder)),
      () => openOauth(at("oauth.db"), at("none.db")),
    ]) {
      // At the second time nothing is migrated.
      for (const time of [1, 2]) {
        const store = await open();
        await store.close();
        expect([time, readdirSync(folder).filter((name) => name.endsWith("-wal"))]).toEqual([
          time,
          [],
        ]);
      }
    }
  });
});
