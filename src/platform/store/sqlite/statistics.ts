import { sql } from "kysely";
import { TABLES } from "../queries/payments/columns.ts";
import type { Db } from "../port.ts";

const LARGE = ["accounts", "documents", "document_balances", "disputes", ...Object.values(TABLES)];

const ROWS = 1_000_000;
const TENANTS = 10;
/** The part of a tenant's rows that has one value; of other columns a value has few rows. */
const SHARES: Record<string, number> = {
  account_group: 0.1,
  currency_code: 0.5,
  document_type: 0.1,
  external_reason_id: 0.1,
  reason_id: 0.1,
  resolution_id: 0.1,
  status: 0.1,
  assignee_id: 0.005,
  due_on: 0.002,
  invoice_on: 0.002,
  payment_date: 0.002,
};
const FEW = 20;
const STORED_ORDER = 0.8;

type IndexColumn = { index: string; isUnique: 0 | 1; column: string | null; isLast: 0 | 1 };

/** Of indexes with any order of a tenant's rows, the planner takes the one that has the order of their storage. */
const countOfTenant = ([first, second]: readonly IndexColumn[]): number => {
  const isStored = second?.column === "created_at" || first?.index.startsWith("sqlite_autoindex");
  return (ROWS / TENANTS) * (isStored ? STORED_ORDER : 1);
};

/** The rows of a table, and those with the same values in the first columns of an index: in one, in two and so on. */
const estimate = (columns: readonly IndexColumn[]): string => {
  let rows = countOfTenant(columns);
  const estimates = columns.map(({ column, isUnique, isLast }, place) => {
    if (isUnique && isLast) rows = 1;
    else if (place > 0) rows = Math.min(rows, rows * (SHARES[column ?? ""] ?? 0) || FEW);
    return Math.max(1, Math.round(rows));
  });
  return [ROWS, ...estimates].join(" ");
};

/**
 * Tells SQLite's planner what a large store looks like. Without statistics it expects 10 rows of a tenant in any index,
 * and reads all of a tenant where an index would find few. ANALYZE would take long, and describe a store that is empty.
 */
export const describeLargeTables = async (db: Db): Promise<void> => {
  // Creates the table of statistics.
  await sql`analyze kysely_migration`.execute(db);
  for (const table of LARGE) {
    const { rows } = await sql<IndexColumn>`
      select i.name as "index", i."unique" as "isUnique", c.name as "column",
        c.seqno = max(c.seqno) over (partition by i.name) as "isLast"
      from pragma_index_list(${table}) as i, pragma_index_xinfo(i.name) as c
      where c."key" = 1 order by i.name, c.seqno`.execute(db);
    await sql`delete from sqlite_stat1 where tbl = ${table}`.execute(db);
    for (const [index, columns] of Map.groupBy(rows, (row) => row.index)) {
      await sql`insert into sqlite_stat1 (tbl, idx, stat)
        values (${table}, ${index}, ${estimate(columns)})`.execute(db);
    }
  }
  // Reads the table.
  await sql`analyze sqlite_schema`.execute(db);
};
