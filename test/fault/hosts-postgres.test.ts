import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findUrlFault, parseDatabaseUrl } from "../../src/kit/postgres/url.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { type Store, StoreUnavailable } from "../../src/platform/store/port.ts";
import { startCutRelay } from "../support/cut-relay.ts";
import { administer, type Server, startPostgres } from "../support/postgres.ts";
import { signingIn } from "../support/signing.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "../support/verifies.ts";

describe("DATABASE_URL", () => {
  verifies("RC-30");
  it("lists several hosts before the path", () => {
    const url = "postgres://ann:p%40w@a:5433,[::1],c/db?target_session_attrs=read-write";
    expect(parseDatabaseUrl(url)).toEqual({
      urls: ["a:5433", "[::1]", "c"].map(
        (host) => `postgres://ann:p%40w@${host}/db?target_session_attrs=read-write`,
      ),
      mustWrite: true,
    });
    expect(parseDatabaseUrl("postgres://a/db")).toMatchObject({ mustWrite: false });
    expect(findUrlFault("postgres:///db?host=/run/postgresql")).toBeUndefined();
  });

  it.each([
    ["mysql://a/db", "postgres://"],
    ["postgres://a,,c/db", "host 2 of 3"],
    ["postgres://a:1,b:70000/db", "host 2 of 2"],
    ["postgres://ann:pa/ss@a/db", "%XX"],
    ["postgres:///db?host=a,b", "postgres://USER@A,B/NAME"],
    ["postgres://a,b/db?target_session_attrs=standby", "read-write or primary"],
  ])("refuses %s and says why", (url, reason) => {
    expect(findUrlFault(url)).toContain(reason);
    expect(findUrlFault(url)).not.toMatch(/ann|pa\b/);
  });
});

const setReadOnly = async ({ url }: Server, isReadOnly: boolean): Promise<void> => {
  const value = isReadOnly ? "on" : "off";
  await administer(url, `alter system set default_transaction_read_only = ${value}`);
  await administer(url, "select pg_reload_conf()");
};

describe("a store on several hosts", () => {
  const servers: Server[] = [];
  let folder: string;
  let store: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "hosts-"));
    servers.push(...(await Promise.all([startPostgres(), startPostgres()])));
    // Both have the tables, as after a failover of replicated servers.
    for (const { url } of servers) await (await openPostgres(url, signingIn(folder))).close();
    const hosts = servers.map(({ url }) => new URL(url).host).join(",");
    const [one] = servers as [Server];
    await setReadOnly(one, true);
    store = await openPostgres(
      `postgres://postgres:postgres@${hosts}/postgres?target_session_attrs=read-write`,
      signingIn(folder),
    );
  });
  afterAll(async () => {
    await store?.close();
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const add = (id: string, queue?: string) =>
    store.transaction(
      (tx) =>
        tx
          .insertInto("file_stores")
          .values({ name: id, id, is_written: 1 } as never)
          .execute(),
      queue,
    );
  const listOn = async ({ url }: Server): Promise<string[]> => {
    const other = await openPostgres(url, signingIn(folder)).catch(() => undefined);
    const rows = await other?.read.selectFrom("file_stores").select("id").execute();
    await other?.close();
    return (rows ?? []).map(({ id }) => id);
  };

  verifies("RC-30");
  it("writes to the host that accepts writes, at the start and after a switch", async () => {
    const [one, two] = servers as [Server, Server];
    await add("first");
    expect(await listOn(two)).toContain("first");
    await Promise.all(Array.from({ length: 5 }, () => store.ping()));
    await setReadOnly(two, true);
    await expect
      .poll(() => add("refused").catch((error: unknown) => error))
      .toBeInstanceOf(StoreUnavailable);
    await setReadOnly(one, false);
    await expect.poll(() => add("second").then(() => "done", String)).toBe("done");
    expect(await listOn(one)).toContain("second");
  });

  verifies("RC-30");
  it("follows when the host stops, with the store's outage until another one accepts writes", async () => {
    const [one, two] = servers as [Server, Server];
    await one.stop();
    // Waiting requests fail with the first one, not one after the other.
    const failTogether = async (pool: string, act: () => Promise<unknown>): Promise<void> => {
      const all = Array.from({ length: 10 }, act);
      await expect(Promise.race(all)).rejects.toBeInstanceOf(StoreUnavailable);
      expect(store.pools().find((use) => use.pool === pool)).toMatchObject({ waiting: 0 });
      for (const { status } of await Promise.allSettled(all)) expect(status).toBe("rejected");
    };
    await failTogether("writers", () => add("lost", "tenant"));
    await failTogether("views", () => store.snapshot({ owner: "tenant" }));
    await setReadOnly(two, false);
    await expect.poll(() => add("third").then(() => "done", String)).toBe("done");
    servers.shift();
    expect(await listOn(two)).toContain("third");
  });

  verifies("RC-30");
  it("gives up statements of a host that takes connections and no longer answers", async () => {
    const [server] = servers as [Server];
    const { port } = new URL(server.url);
    const target = { host: "127.0.0.1", port: Number(port) };
    const relay = await startCutRelay({ host: "127.0.0.1", port: 0 }, target);
    const silent = await openPostgres(
      server.url.replace(port, String(relay.port)),
      signingIn(folder),
    );
    relay.cut();
    await expect(silent.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    relay.heal();
    await expect.poll(() => silent.ping().then(() => "done", String)).toBe("done");
    await silent.close();
    await relay.close();
  });

  verifies("RC-30");
  it("goes on at another host when one no longer answers", async () => {
    const [server] = servers as [Server];
    const target = { host: "127.0.0.1", port: Number(new URL(server.url).port) };
    const start = () => startCutRelay({ host: "127.0.0.1", port: 0 }, target);
    const [one, two] = await Promise.all([start(), start()]);
    two.cut();
    const hosts = [one, two].map(({ port }) => `127.0.0.1:${port}`).join(",");
    const moved = await openPostgres(
      `postgres://postgres:postgres@${hosts}/postgres`,
      signingIn(folder),
    );
    two.heal();
    one.cut();
    await expect(moved.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect.poll(() => moved.ping().then(() => "done", String)).toBe("done");
    await moved.close();
    await Promise.all([one.close(), two.close()]);
  });
});
