import { beforeAll, describe, expect, it } from "vitest";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { AUDIT_LOGS, entry, logged, rowsOf } from "../support/audit.ts";
import { finished, startChild } from "../support/child.ts";
import { onEveryStore, startPlatform, type TestPlatform } from "../support/platform.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("long pages of the audit log", (at) => {
  const COUNT = 30_000;
  /** Counts the rows that streams have read of the store so far. */
  const counting = (): { rows: number; open: number } => {
    const seen = { rows: 0, open: 0 };
    const { store } = at();
    const plain = store.snapshot.bind(store);
    store.snapshot = async (options) => {
      const snapshot = await plain(options);
      seen.open += 1;
      return {
        ...snapshot,
        async *stream(query) {
          for await (const row of snapshot.stream(query)) {
            seen.rows += 1;
            yield row;
          }
        },
        async close() {
          seen.open -= 1;
          await snapshot.close();
        },
      };
    };
    return seen;
  };
  let seen: ReturnType<typeof counting>;
  let apiKey: string;
  const ask = (query: string, method = "GET") =>
    at().platform.fetch(
      new Request(`http://platform.test${AUDIT_LOGS}${query}`, {
        method,
        headers: { "X-API-Key": apiKey },
      }),
    );

  beforeAll(async () => {
    await logged(at(), "long", 0);
    for (let from = 0; from < COUNT; from += 5000) {
      const entries = Array.from({ length: 5000 }, (_, index) =>
        entry("long", from + index, at().clock() - COUNT + from + index),
      );
      await at().store.transaction((tx) => appendEntries(tx, at().store.auditKey, entries));
    }
    const made = { tenantId: "long", name: "long" };
    ({ apiKey } = await issueKey({ ...at(), newId: () => "long" }, made));
    seen = counting();
  }, 60_000);

  verifies("AU-11", "AU-12");
  it("streams a page of all entries with its total number", async () => {
    const response = await ask("?limit=100000&q=payments");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    await reader.read();
    expect(seen).toMatchObject({ open: 1 });
    expect(seen.rows).toBeLessThan(COUNT / 10);
    const pieces = [first.value ?? new Uint8Array()];
    reader.releaseLock();
    await response.body?.cancel();
    await expect.poll(() => seen.open).toBe(0);
    expect(pieces[0]?.byteLength).toBeLessThan(200_000);

    const { data, pagination } = (await (await ask("?limit=100000&q=payments")).json()) as {
      data: { id: string }[];
      pagination: object;
    };
    expect(pagination).toEqual({ cursor: null, hasMore: false, rowCount: COUNT });
    expect(data.map(({ id }) => id)).toEqual(
      Array.from({ length: COUNT }, (_, index) => `entry-${COUNT - 1 - index}`),
    );
    await expect.poll(() => seen.open).toBe(0);
    const noted = (await rowsOf(at().store.read, "long")).at(-1);
    expect(JSON.parse(noted?.metadata ?? "{}")).toEqual({ rowCount: COUNT, actor: "long" });
  });

  verifies("AU-12");
  it("returns consecutive long pages while entries arrive", async () => {
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? "" : `&cursor=${cursor}`;
      const response = await ask(`?limit=7000&endpoint=/payments/query${next}`);
      const page = (await response.json()) as {
        data: { id: string }[];
        pagination: { cursor: string | null; hasMore: boolean; rowCount: number };
      };
      expect(page.pagination.rowCount).toBe(page.data.length);
      expect(page.pagination.hasMore).toBe(page.pagination.cursor !== null);
      ids.push(...page.data.map(({ id }) => id));
      ({ cursor } = page.pagination);
      const late = [entry("long", COUNT + ids.length, at().clock() - COUNT)];
      await at().store.transaction((tx) => appendEntries(tx, at().store.auditKey, late));
    } while (cursor !== null);
    expect(ids).toEqual(Array.from({ length: COUNT }, (_, index) => `entry-${COUNT - 1 - index}`));
  });

  it("reads no entries for a HEAD request", async () => {
    const before = seen.rows;
    const response = await ask("?limit=100000", "HEAD");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(seen).toEqual({ rows: before, open: 0 });
  });
});

/** Walks the log page by page and gives the ids in their order. */
const walk = async (at: TestPlatform, tenantId: string, query: string): Promise<string[]> => {
  const read = await at.exportCaller(tenantId, ["audit:read"]);
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? "" : `&cursor=${cursor}`;
    const { body, text } = await read("GET", `${AUDIT_LOGS}?${query}${next}`);
    if (body.data === undefined) throw new Error(text);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    ({ cursor } = body.pagination);
  } while (cursor !== null);
  return ids;
};

const WRITERS = 3;
const EACH = 150;

for (const dialect of dialects) {
  describe(`audit entries of several processes (${dialect.name})`, () => {
    verifies("AU-12", "D-AUD-4");
    it("lists each entry that existed at the first page once, newest first", async () => {
      const database = await dialect.createMigrated();
      const at = await startPlatform({ name: dialect.name, createMigrated: async () => database });
      await at.tenant("busy");
      const script = new URL("../store/audit-child.ts", import.meta.url);
      const args = ["busy", String(EACH), String(at.clock())];
      const children = Array.from({ length: WRITERS }, () =>
        startChild(script, args, database.environment),
      );
      const ended = new AbortController();
      const ending = Promise.all(children.map(finished)).finally(() => {
        ended.abort();
      });
      const walks: string[][] = [];
      while (!ended.signal.aborted) {
        walks.push(await walk(at, "busy", "limit=7&endpoint=/audit-logs"));
      }
      await ending;
      walks.push(await walk(at, "busy", "limit=50&endpoint=/audit-logs"));
      const rows = await rowsOf(at.store.read, "busy");
      const seqs = new Map(rows.map(({ id, seq }) => [id, seq]));
      for (const ids of walks) {
        const top = Math.max(...ids.map((id) => seqs.get(id) ?? Infinity));
        const expected = rows
          .filter(({ seq, endpoint }) => seq <= top && endpoint === "/audit-logs")
          .toSorted((a, b) => b.at - a.at || b.seq - a.seq);
        expect(ids).toEqual(expected.map(({ id }) => id));
      }
      expect(rows.filter(({ metadata }) => metadata.includes("writer"))).toHaveLength(
        WRITERS * EACH,
      );
      expect(await verifyAudit(at, "busy")).toMatchObject({ ok: true, entries: rows.length });
      await at.close();
    }, 120_000);
  });
}
