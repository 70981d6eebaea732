import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { runCli, startCli, whenReady } from "../support/cli.ts";
import { createStorage } from "../../src/oauth/store/storage.ts";
import { dialects } from "../support/stores.ts";

const NOW = 1_000_000;
const record = (id: string, more: { kind?: string; grantId?: string } = {}) => ({
  kind: more.kind ?? "Grant",
  id,
  grantId: more.grantId ?? null,
  owner: "person",
  payload: `payload of ${id}`,
  consumedAt: null,
  expiresAt: NOW + 1000,
});

/** The table as released versions of the platform's store created it. */
const RELEASED = sql`create table oauth_records (kind text not null, id text not null, grant_id text, owner text,
  payload text not null, consumed_at bigint, expires_at bigint not null, primary key (kind, id))`;

describe.each(dialects)("the store of the built-in sign-in ($name)", (dialect) => {
  it("copies the records of a released version once", async () => {
    const database = await dialect.create();
    const platform = await database.open();
    await platform.transaction(async (tx) => {
      await RELEASED.execute(tx);
      for (let index = 0; index < 1203; index++) {
        const id = `grant${index}`;
        await sql`insert into oauth_records values ('Grant', ${id}, null, 'person', ${`payload of ${id}`}, null, ${NOW + 1000})`.execute(
          tx,
        );
      }
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
      range.map(async (index) => storages[index % 2]?.countAttempt("key", 1000)),
    );
    expect(
      counts.map((counted) => counted?.count).toSorted((one, other) => Number(one) - Number(other)),
    ).toEqual(range.map((index) => index + 1));
    await storages[0]?.uncountAttempt("key");
    expect(await storages[1]?.countAttempt("key", 1000)).toEqual({ count: 40, endsAt: NOW + 1000 });
    await Promise.all(stores.map((store) => store.close()));
    await database.remove();
  });

  it("removes expired records and counters", async () => {
    const database = await dialect.create();
    const store = await database.openOauth();
    let now = NOW;
    const storage = createStorage(store, () => now);
    await storage.upsert(record("old"));
    await storage.countAttempt("key", 1000);
    expect(await storage.purge()).toBe(0);
    now += 2000;
    await storage.upsert({ ...record("new"), expiresAt: now + 1 });
    expect(await storage.purge()).toBe(2);
    expect(await storage.purge()).toBe(0);
    expect(await storage.find("Grant", "new")).toBeDefined();
    await store.close();
    await database.remove();
  });
});

/** The tables in the database's schema. */
const listTables = async (url: string): Promise<string[]> => {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  await client.end();
  return rows.map(({ name }) => name);
};

describe("an MCP server with the built-in sign-in in front of a remote platform", () => {
  it("creates only the sign-in's tables in an empty PostgreSQL database", async () => {
    const dialect = dialects.find(({ name }) => name === "postgres");
    const database = await dialect?.create();
    const folder = await mkdtemp(join(tmpdir(), "sign-in-store-"));
    const remote = { RECEIVABLES_DATA: join(folder, "platform") };
    await runCli(["admin", "tenant", "create", "acme", "--name", "Acme"], remote);
    const platform = startCli(["platform", "--port", "0"], remote);
    const { baseUrl } = await whenReady(platform);
    const url = database?.environment["DATABASE_URL"] ?? "";
    const server = startCli(["http", "--port", "0"], {
      RECEIVABLES_DATA: join(folder, "server"),
      RECEIVABLES_SECRET_KEY: "k".repeat(43),
      RECEIVABLES_BASE_URL: baseUrl,
      RECEIVABLES_HTTP_AUTH: "builtin",
      DATABASE_URL: url,
    });
    const ready = await whenReady(server);
    const page = await fetch(new URL("/oauth/account", ready.mcpUrl ?? ""));
    expect(page.status).toBe(200);
    expect(await listTables(url)).toEqual([
      "sign_in_counters",
      "sign_in_migrations",
      "sign_in_migrations_lock",
      "sign_in_records",
    ]);
    await server.end("SIGTERM");
    await platform.end("SIGTERM");
    await rm(folder, { recursive: true, maxRetries: 3 });
    await database?.remove();
  });
});
