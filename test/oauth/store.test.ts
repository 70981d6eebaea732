import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { createStorage } from "../../src/records/storage.ts";
import { dialects } from "../support/stores.ts";

const NOW = 1_000_000;
const record = (id: string, more: { kind?: string; grantId?: string } = {}) => ({
  kind: more.kind ?? "Grant",
  id,
  grant_id: more.grantId ?? null,
  owner: "person",
  payload: `payload of ${id}`,
  consumed_at: null,
  expires_at: NOW + 1000,
});

/** The table as released versions of the platform's store created it. */
const RELEASED = sql`create table oauth_records (kind text not null, id text not null, grant_id text, owner text,
  payload text not null, consumed_at bigint, expires_at bigint not null, primary key (kind, id))`;

const FILLED = sql`with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 1202)
  insert into oauth_records select 'Grant', 'grant' || n, null, 'person', 'payload of grant' || n, null, ${sql.lit(NOW + 1000)}
  from numbers`;

describe.each(dialects)("the store of the built-in sign-in ($name)", (dialect) => {
  it("copies the records of a released version once", async () => {
    const database = await dialect.createMigrated();
    const platform = await database.open();
    await platform.transaction(async (tx) => {
      await RELEASED.execute(tx);
      await FILLED.execute(tx);
    });
    const first = await database.openOauth();
    const storage = createStorage(first, () => NOW);
    expect(await storage.find("Grant", "grant7")).toEqual(record("grant7"));
    expect(await storage.listByOwner("Grant", "person")).toHaveLength(1203);
    expect(await storage.remove("Grant", "grant7")).toBe(true);
    await first.close();
    const second = await database.openOauth();
    expect(await createStorage(second, () => NOW).find("Grant", "grant7")).toBeUndefined();
    await second.close();
    await platform.close();
    await database.remove();
  });

  it("shares records and counts among processes, each of which may open it first", async () => {
    const database = await dialect.create();
    const stores = await Promise.all([database.openOauth(), database.openOauth()]);
    const storages = stores.map((store) => createStorage(store, () => NOW));
    const range = Array.from({ length: 40 }, (_, index) => index);
    const claims = await Promise.all(
      range.map(async (index) => storages[index % 2]?.add(record("only"))),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
    const counts = await Promise.all(
      range.map(async (index) => storages[index % 2]?.counter.count("key", 1000)),
    );
    expect(
      counts.map((counted) => counted?.count).toSorted((one, other) => Number(one) - Number(other)),
    ).toEqual(range.map((index) => index + 1));
    await storages[0]?.uncount("key");
    expect(await storages[1]?.counter.count("key", 1000)).toEqual({
      count: 40,
      endsAt: NOW + 1000,
    });
    await Promise.all(stores.map((store) => store.close()));
    await database.remove();
  });

  it("ends a window within its length, also when the clock was set back", async () => {
    const database = await dialect.create();
    const store = await database.openOauth();
    let now = NOW;
    const storage = createStorage(store, () => now);
    await storage.counter.count("key", 1000);
    now -= 60_000;
    expect(await storage.counter.count("key", 1000)).toEqual({ count: 2, endsAt: now + 1000 });
    now += 1000;
    expect(await storage.counter.count("key", 1000)).toEqual({ count: 1, endsAt: now + 1000 });
    await store.close();
    await database.remove();
  });

  it("removes expired records and counters", async () => {
    const database = await dialect.create();
    const store = await database.openOauth();
    let now = NOW;
    const storage = createStorage(store, () => now);
    await storage.upsert(record("old"));
    await storage.counter.count("key", 1000);
    expect(await storage.purge()).toBe(0);
    now += 2000;
    await storage.upsert({ ...record("new"), expires_at: now + 1 });
    expect(await storage.purge()).toBe(2);
    expect(await storage.purge()).toBe(0);
    expect(await storage.find("Grant", "new")).toBeDefined();
    await store.close();
    await database.remove();
  });
});
