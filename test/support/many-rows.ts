import { type RawBuilder, sql } from "kysely";
import { listColumns, TABLES } from "../../src/platform/store/queries/payments/columns.ts";
import type { Db } from "../../src/platform/store/port.ts";

/** Has a tenth of all rows; the tenants `tenant-1` to `tenant-99` share the others. */
export const LARGE = "large";

const TENANT = sql`case when n % 10 = 0 then ${sql.lit(LARGE)}
  else 'tenant-' || (n / 10 % 99 + 1) end`;
const numberFrom = (first: number) =>
  sql`${sql.lit(first - 1)} + row_number() over (partition by tenant_id order by n)`;
const rowsOf = (count: number) =>
  sql`(select n, ${TENANT} as tenant_id from generate_series(1, ${count}::bigint) as n) as rows`;

const DAY = sql`to_char(date '2026-01-01' + cast(n % 300 as integer), 'YYYY-MM-DD')`;

/** The number of different values; other fields have a value of their own in each row. */
const DIFFERENT: Record<string, number> = {
  accountNumber: 5000,
  accountName: 5000,
  payerName: 5000,
};

type Values = [name: string, value: RawBuilder<unknown>][];

/** The values of a row with its core fields. */
const valuesOf = (): Values =>
  listColumns("cashapp").flatMap(({ name, compared, storage, field }): Values => {
    if (name === "tenant_id") return [];
    const isDay = field.type === "date" || field.type === "datetime";
    const number = sql`n % ${sql.lit(DIFFERENT[field.name] ?? 1e12)}::bigint`;
    const text = isDay ? DAY : sql`${sql.lit(`${name}-`)} || ${number}`;
    const values: Record<typeof storage, RawBuilder<unknown>> = {
      text: field.type === "enum" ? sql.lit(field.values[0] ?? "") : text,
      folded: text,
      decimal: sql`(n % 90000)::text`,
      integer: sql`n % 50`,
      flag: sql`n % 2`,
    };
    const value = field.core ? values[storage] : sql`null`;
    const order = field.core ? sql`(n % 90000)::double precision` : sql`null`;
    return compared === name
      ? [[name, value]]
      : [
          [name, value],
          [compared, storage === "decimal" ? order : value],
        ];
  });

/** Fills a table without its indexes, which are built after it: that takes a fraction of the time. */
const withoutIndexes = async (db: Db, table: string, fill: RawBuilder<unknown>): Promise<void> => {
  const { rows: indexes } = await sql<{ name: string; statement: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement
    from pg_index where indrelid = ${table}::regclass and not indisprimary`.execute(db);
  for (const { name } of indexes) await sql`drop index ${sql.table(name)}`.execute(db);
  await fill.execute(db);
  for (const { statement } of indexes) await sql.raw(statement.replace(" ONLY ", " ")).execute(db);
  // Also sets the map of pages that every transaction sees, without which no index alone answers.
  await sql`vacuum analyze ${sql.table(table)}`.execute(db);
};

/** Fills the payments of cash application with rows of a hundred tenants. */
export const insertManyPayments = async (db: Db, count: number): Promise<void> => {
  const values = valuesOf();
  const table = sql.table(TABLES.cashapp);
  const names = sql.join(values.map(([name]) => sql.ref(name)));
  await withoutIndexes(
    db,
    TABLES.cashapp,
    sql`insert into ${table} (tenant_id, seq, sent_hash, ${names})
      select tenant_id, ${numberFrom(1)}, '', ${sql.join(values.map(([, value]) => value))}
      from ${rowsOf(count)}`,
  );
  await sql`insert into payment_sequences (tenant_id, source, last)
    select tenant_id, 'cashapp', max(seq) from ${table} group by 1`.execute(db);
};

const ACTIONS = ["payments.queried", "dispute.updated", "dispute.listed", "document.created"];

/** Fills the audit log with entries of a hundred tenants in the year from a time; they have no valid codes. */
export const insertManyEntries = async (db: Db, count: number, from: number): Promise<void> => {
  const code = sql`md5(n::text) || md5((n + 1)::text)`;
  const id = sql`gen_random_uuid()`;
  await withoutIndexes(
    db,
    "audit_logs",
    sql`insert into audit_logs (tenant_id, seq, id, at, method, endpoint, action, status_code,
        metadata, schedule_id, search, prev_hash, hash)
      select tenant_id, ${numberFrom(1001)}, ${id}::text,
        ${from} + (n * 31622400000::numeric / ${count})::bigint, 'GET', '/payments/query',
        (array[${sql.join(ACTIONS)}])[1 + n % 4], 200,
        '{"actor":"' || ${id} || '","resourceId":"' || ${id} || '","rowCount":20}',
        case when n % 20 = 0 then 'schedule-' || n % 400 end, '/payments/query payments.queried',
        ${code}, ${code}
      from ${rowsOf(count)}`,
  );
  await sql`update audit_heads set seq = entries.last
    from (select tenant_id, max(seq) as last from audit_logs group by 1) as entries
    where audit_heads.tenant_id = entries.tenant_id and entries.last > 1000`.execute(db);
};
