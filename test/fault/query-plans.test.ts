import pg from "pg";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { getDialect } from "../../src/platform/store/engine/dialect.ts";
import { removeTenantRows } from "../../src/platform/store/queries/tenant-tables.ts";
import { importPayments } from "../support/importing.ts";
import { insertManyEntries, insertManyPayments, LARGE } from "../support/many-rows.ts";
import { ndjson, paymentRows, QUERY, SUMMARY } from "../support/payment-rows.ts";
import { explain, recordStatements, type Scan } from "../support/plans.ts";
import {
  type Caller,
  CONFIGURATION,
  startPlatform,
  type TestPlatform,
} from "../support/platform.ts";
import { dialects } from "../support/stores.ts";

/** Payment rows; there are twice as many audit entries. */
const ROWS = Number(process.env["PLAN_ROWS"] ?? 100_000);

const BUILD_MS = 120_000 + ROWS;
const SMALL = "tenant-1";
const START = Date.UTC(2028, 0, 1);
const MONTHS = 13;

const [postgres] = dialects.filter(({ name }) => name === "postgres");

/** Parts with few rows are read as a whole: that is faster than any index. */
const FEW_ROWS = 300;

const listLargeParts = async (client: pg.Client): Promise<Map<string, string>> => {
  const { rows } = await client.query<{ part: string; divided: string }>(
    `select c.relname as part, regexp_replace(c.relname, '_\\d$', '') as divided from pg_class c
     where c.relkind = 'r' and c.reltuples > ${FEW_ROWS} and c.relname ~ '^(cashapp_payments|audit_logs)_'`,
  );
  return new Map(rows.map(({ part, divided }) => [part, divided]));
};

const isChecked =
  /^\s*(?:select|insert|update|delete|with)\b.*\b(?:cashapp_payments|audit_logs)\b/is;
// The rows of a copy, which are in a temporary table, and whether a month is empty.
const isSkipped = /staged_|from "audit_logs_\w+" limit 1/;

describe("plans of the queries on large tables", () => {
  let at: TestPlatform;
  let client: pg.Client;
  let parts: Map<string, string>;
  const callers: Caller[] = [];

  beforeAll(async () => {
    if (postgres === undefined) throw new Error("the tests have no PostgreSQL");
    let url = "";
    at = await startPlatform({
      name: "postgres",
      async createMigrated() {
        const database = await postgres.createMigrated();
        url = database.environment["DATABASE_URL"] ?? "";
        return database;
      },
    });
    client = new pg.Client(url);
    await client.connect();
    at.clock.set(new Date(START).toISOString());
    // From the last month on, because a call removes empty months that have ended.
    for (let month = MONTHS - 1; month >= 0; month -= 1) {
      await at.store.transaction((tx) =>
        getDialect(tx).partitions.prepareMonths(tx, Date.UTC(2028, month)),
      );
    }
    for (const id of [LARGE, SMALL, "valid"]) await at.tenant(id);
    for (const id of [LARGE, SMALL]) callers.push(await at.exportCaller(id));
    await insertManyPayments(at.store.read, ROWS);
    await insertManyEntries(at.store.read, 2 * ROWS, START);
    parts = await listLargeParts(client);
  }, BUILD_MS);
  afterAll(async () => {
    await client.end();
    await at.close();
  });

  /** Runs an action and reads the plan of each statement that it sends about the large tables. */
  const readPlans = async (act: () => Promise<unknown>) => {
    const recorded = recordStatements();
    await act().finally(recorded.stop);
    const statements = recorded.stop();
    const about = statements.filter(({ text }) => isChecked.test(text) && !isSkipped.test(text));
    const problems: string[] = [];
    let scans: Scan[] = [];
    for (const statement of about) {
      const all = await explain(client, statement);
      const large = all.filter(({ table }) => parts.has(table));
      const divided = new Set(large.map(({ table }) => table));
      const months = new Set([...divided].map((table) => parts.get(table)));
      if (divided.size > months.size) problems.push(`${divided.size} parts: ${statement.text}`);
      for (const { kind, hasCondition, table } of large) {
        const isBounded = hasCondition || kind === "Bitmap Heap Scan" || kind === "Tid Scan";
        if (!isBounded) problems.push(`${kind} of ${table}: ${statement.text}`);
      }
      scans = [...scans, ...large];
    }
    return { problems, scans };
  };

  /** Returns the scans of an action, all of which are by an index of one part per month. */
  const checkPlans = async (act: () => Promise<unknown>): Promise<Scan[]> => {
    const { problems, scans } = await readPlans(act);
    expect(problems).toEqual([]);
    return scans;
  };

  const ask = async (path: string, body?: object): Promise<void> => {
    for (const call of callers) {
      const reply = await call(body === undefined ? "GET" : "POST", path, body && { body });
      expect(reply.status, reply.text).toBe(200);
      const cursor = reply.body.pagination?.cursor;
      if (typeof cursor !== "string") continue;
      const next =
        body === undefined
          ? await call("GET", `${path}&cursor=${cursor}`)
          : await call("POST", path, { body: { ...body, cursor } });
      expect(next.status, next.text).toBe(200);
    }
  };

  it("that read a whole part, or the parts of other tenants, are found", async () => {
    expect(new Set(parts.values()).size).toBeGreaterThan(MONTHS - 1);
    const { read } = at.store;
    const whole = await readPlans(() => sql`select max(hash) from audit_logs`.execute(read));
    expect(whole.problems.join()).toContain("Seq Scan of audit_logs_");
    const byId = sql`select 1 from cashapp_payments where id = 'x'`;
    expect((await readPlans(() => byId.execute(read))).problems.join()).toContain("8 parts");
  });

  it.each([
    {},
    { documentNumber: { eq: "document_number-17" } },
    { documentNumber: { in: ["document_number-20", "document_number-30"] } },
    { invoiceNumber: { startsWith: "invoice_number-123" } },
    { accountNumber: { eq: "account_number-7" }, paymentAmount: { gt: 10 } },
    { paymentDate: { between: ["2026-03-01", "2026-03-02"] } },
    { updatedAt: { gte: "2026-05-01" } },
    { paymentId: { eq: "payment_id-10" } },
    { paymentReference: { eq: "payment_reference-10" } },
    { disputeId: { eq: "dispute" } },
    { payerName: { contains: "name-49" } },
    { or: [{ documentNumber: { eq: "document_number-10" } }, { paymentAmount: { lt: 0 } }] },
  ])("of payments by %j are on an index of one part", async (filters) => {
    const scans = await checkPlans(() => ask(QUERY, { source: "cashapp", filters, limit: 50 }));
    expect(scans.length).toBeGreaterThan(0);
  });

  it.each([{ accountNumber: { eq: "account_number-7" } }, { documentNumber: { in: ["x", "y"] } }])(
    "of sums of payments by %j are on an index of one part",
    async (filters) => {
      const body = { source: "cashapp", filters, groupBy: ["payerName"] };
      const measures = [{ op: "sum", field: "paymentAmount" }];
      const scans = await checkPlans(() => ask(SUMMARY, { ...body, measures }));
      expect(scans.length).toBeGreaterThan(0);
    },
  );

  it("of imports that add and change rows are on an index of one part", async () => {
    const rows = paymentRows("cashapp", 120);
    const changed = rows.map((row) => ({ ...row, payerName: "Changed" }));
    const scans = await checkPlans(async () => {
      for (const some of [rows, changed, changed.slice(0, 3)]) {
        await importPayments(at, { tenantId: LARGE, source: "cashapp" }, ndjson(some), {
          format: "ndjson",
        });
      }
    });
    expect(scans.length).toBeGreaterThan(0);
  });

  it.each([
    "limit=50",
    "limit=5000",
    "action=payments.queried&limit=50",
    "scheduleId=schedule-20&limit=50",
    "from=2028-05-03&to=2028-05-05&limit=50",
    "action=dispute.updated&from=2028-05-03&limit=50",
    "endpoint=/payments/query&limit=50",
    "statusCode=404&from=2028-05-03&to=2028-05-05",
    "resourceId=none&from=2028-05-03&to=2028-05-05",
    "q=queried&limit=50",
  ])("of the audit log with %s are on an index of one part per month", async (query) => {
    const scans = await checkPlans(() => ask(`/api/v1/remittance-export/audit-logs?${query}`));
    expect(scans.length).toBeGreaterThan(0);
  });

  it("of a change with its audit entry read nothing but an index", async () => {
    at.clock.advance(365 * DAY);
    const admin = await at.person(LARGE, { roles: ["Administrator"] });
    const body = { code: "D", description: "D" };
    await checkPlans(async () => {
      const reply = await admin.call("POST", `${CONFIGURATION}/departments`, { body });
      expect(reply.status, reply.text).toBe(201);
    });
  });

  it("of retention and of the removal of a tenant are on an index of one part per month", async () => {
    at.clock.advance(60 * DAY);
    const purged = await checkPlans(() => at.platform.purge());
    expect(purged.length).toBeGreaterThan(0);
    const { rows } = await sql`select 1 from audit_logs where tenant_id = 'valid'`.execute(
      at.store.read,
    );
    expect(rows.length).toBeLessThanOrEqual(1);
    const removed = await checkPlans(async () => {
      for (const table of ["cashapp_payments", "audit_logs"] as const) {
        expect(
          await at.store.transaction((tx) => removeTenantRows(tx, table, "tenant-2", 5)),
        ).toBeGreaterThanOrEqual(5);
      }
    });
    expect(removed.length).toBeGreaterThan(0);
  });
});
