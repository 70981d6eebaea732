import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { getDialect } from "../../src/platform/store/engine/dialect.ts";
import {
  addPayments,
  type NewPayment,
  replacePayments,
} from "../../src/platform/store/queries/payments.ts";
import type { Db } from "../../src/platform/store/port.ts";
import { dialects } from "../support/stores.ts";
import { withSteps } from "../support/unmigrated.ts";
import { verifies } from "../support/verifies.ts";

const BEFORE = "0018-versions";
const NOVEMBER = Date.UTC(2026, 10, 20);
const postgres = dialects.filter(({ name }) => name === "postgres");

const TENANTS = Array.from({ length: 60 }, (_, number) => `t${number}`);

const payments = (createdAt: string): NewPayment[] =>
  TENANTS.map((tenantId) => {
    const times = { createdAt, updatedAt: createdAt };
    return { tenantId, seq: 1, sentHash: "", values: { id: `P-${tenantId}`, ...times } };
  });

const entry = (tenant: string, seq: number, at: number) => sql`
  insert into audit_logs values (${tenant}, ${seq}, ${`${tenant}-${seq}`}, ${at}, 'GET', '/x',
    'payments.queried', 200, '{}', null, '', '', '')`;

/** Returns the number of rows per partition of a table, without empty ones. */
const countByPart = async (db: Db, table: string): Promise<Record<string, number>> => {
  const { rows } = await sql<{ part: string; count: string }>`
    select tableoid::regclass::text as part, count(*) from ${sql.table(table)} group by 1`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ part, count }) => [part, Number(count)]));
};

describe.each(postgres)("partitions ($name)", (one) => {
  verifies("OP-25");
  it("take over the rows that exist, and what the release before writes", async () => {
    await withSteps(
      one,
      async (db, migrateTo) => {
        await migrateTo(BEFORE);
        await addPayments(db, "iandp", payments("before"));
        for (const tenant of TENANTS) await entry(tenant, 1, NOVEMBER).execute(db);
        const read = async () => {
          const payments = await sql`select * from iandp_payments order by tenant_id`.execute(db);
          const entries = await sql`select * from audit_logs order by tenant_id`.execute(db);
          return { payments: payments.rows, entries: entries.rows };
        };
        const before = await read();
        await migrateTo("0019-partitions");
        expect(await read()).toEqual(before);
        expect(Object.keys(await countByPart(db, "iandp_payments"))).toHaveLength(8);
        expect(await countByPart(db, "audit_logs")).toEqual({
          audit_logs_before_2026_12: TENANTS.length,
        });
        // As the release before writes: many rows by copy, few by statements.
        await db.transaction().execute(async (tx) => {
          await replacePayments(tx, "iandp", payments("after"));
        });
        await expect(addPayments(db, "iandp", payments("x").slice(1, 2))).rejects.toThrow(
          "duplicate",
        );
        await entry("t1", 2, Date.UTC(2026, 11, 1)).execute(db);
        await expect(entry("t1", 2, Date.UTC(2026, 11, 2)).execute(db)).rejects.toThrow(
          "duplicate",
        );
        const { rows } = await sql`select distinct created_at from iandp_payments`.execute(db);
        expect(rows).toEqual([{ created_at: "after" }]);
      },
      () => NOVEMBER,
    );
  });
});

describe.each(postgres)("months of the audit log ($name)", (one) => {
  const withDatabase = async (act: (db: Db, prepare: (at: number) => Promise<void>) => unknown) => {
    const database = await one.createMigrated();
    const store = await database.open();
    try {
      await act(store.read, (at) =>
        store.transaction(async (tx) => getDialect(tx).partitions.prepareMonths(tx, at)),
      );
    } finally {
      await store.close();
      await database.remove();
    }
  };

  it("exist before they begin, take entries of any time, and go when they are empty", async () => {
    await withDatabase(async (db, prepare) => {
      const march = Date.UTC(2031, 2, 31, 23, 59, 59, 999);
      await entry("t", 1, march).execute(db);
      await entry("t", 2, march + 1).execute(db);
      await entry("t", 3, Date.UTC(2040, 0)).execute(db);
      await entry("t", 4, 0).execute(db);
      expect((await countByPart(db, "audit_logs"))["audit_logs_rest"]).toBe(3);
      await prepare(march);
      await prepare(march);
      const parts = Object.keys(await countByPart(db, "audit_logs")).toSorted();
      expect(parts).toEqual([
        expect.stringMatching(/^audit_logs_2031_03_\d$/),
        expect.stringMatching(/^audit_logs_2031_04_\d$/),
        expect.stringMatching(/^audit_logs_before_/),
        "audit_logs_rest",
      ]);
      await entry("t", 5, Date.UTC(2031, 4, 31)).execute(db);
      expect((await countByPart(db, "audit_logs"))["audit_logs_rest"]).toBe(1);
      await sql`delete from audit_logs where seq = 1`.execute(db);
      await prepare(march + 1);
      await prepare(Date.UTC(2031, 5));
      const { rows } = await sql<{ name: string }>`select relname as name from pg_class
        where relname ~ '^audit_logs_2031_..$' order by 1`.execute(db);
      expect(rows.map(({ name }) => name.slice(-2))).toEqual(["04", "05", "06", "07", "08"]);
      const { rows: left } = await sql`select seq from audit_logs order by seq`.execute(db);
      expect(left).toHaveLength(4);
    });
  });

  it("are left for later while a long read holds the table", async () => {
    await withDatabase(async (db, prepare) => {
      await db.transaction().execute(async (reader) => {
        await sql`select * from audit_logs_rest`.execute(reader);
        await expect(prepare(Date.UTC(2050, 0))).rejects.toThrow("lock timeout");
      });
      await prepare(Date.UTC(2050, 0));
      await entry("t", 1, Date.UTC(2050, 0)).execute(db);
      expect(Object.keys(await countByPart(db, "audit_logs"))[0]).toMatch(/^audit_logs_2050_01_/);
    });
  });
});
