import { sql } from "kysely";
import { SOURCES } from "../../../contract/payments/catalogue.ts";
import { getDialect } from "../engine/dialect.ts";
import { TABLES as PAYMENT_TABLES } from "./payments/columns.ts";
import type { Db } from "../port.ts";
import type { Tables } from "../tables/schema.ts";

type Table = keyof Tables;

/** A table with a column `tenant_id`. */
export type TenantTable = {
  [T in Table]: Tables[T] extends { tenant_id: string } ? T : never;
}[Table];

/** The tables with the records of tenants, with the columns that order a tenant's rows. */
export const RECORD_TABLES = {
  categories: ["id"],
  reasons: ["id"],
  departments: ["id"],
  assignees: ["id"],
  resolutions: ["id"],
  disputes: ["id"],
  dispute_sequences: ["document_number"],
  dispute_notes: ["id"],
  dispute_attachments: ["id"],
  accounts: ["account_number"],
  account_notes: ["reference"],
  documents: ["document_number"],
  document_closures: ["document_number", "number"],
  document_balances: ["document_number", "version"],
  document_attachments: ["id"],
  csr_sequences: ["noun"],
  business_units: ["id"],
  company_scores: ["company_id", "as_of"],
  credit_applications: ["id"],
  payment_sequences: ["source"],
  ...(Object.fromEntries(SOURCES.map((source) => [PAYMENT_TABLES[source], ["seq"]])) as Record<
    (typeof PAYMENT_TABLES)[keyof typeof PAYMENT_TABLES],
    string[]
  >),
  imports: ["id"],
  import_changes: ["import_id", "number"],
  payment_entries: ["id"],
  schedules: ["id"],
  export_runs: ["id"],
  run_chunks: ["run_id", "number"],
  webhooks: ["id"],
  webhook_deliveries: ["id"],
  webhook_attempts: ["id"],
  idempotency_keys: ["principal", "operation", "key"],
} as const satisfies Partial<Record<Table, readonly string[]>>;

/** The users of a tenant and their rights. */
export const ACCESS_TABLES = {
  roles: ["id"],
  memberships: ["user_id"],
  membership_roles: ["user_id", "role_id"],
  api_keys: ["id"],
  export_keys: ["id"],
} as const satisfies Partial<Record<Table, readonly string[]>>;

/**
 * The other tables with a column `tenant_id`: figures and work that follow from the records, so that an import computes
 * them; tables that people save for a day; clients, which belong to one installation; and the audit log.
 */
export const OTHER_TABLES = {
  clients: ["id"],
  dispute_totals: ["status"],
  jobs: ["kind", "id"],
  saved_files: ["owner", "name"],
  audit_logs: ["seq"],
  audit_heads: ["tenant_id"],
  evidence_heads: ["seq"],
} as const satisfies Partial<Record<Table, readonly string[]>>;

/** The key columns after the tenant of each table that an import writes. */
export const IMPORTED_TABLES = { ...RECORD_TABLES, ...ACCESS_TABLES };

const ORDERS: Partial<Record<Table, readonly string[]>> = {
  ...RECORD_TABLES,
  ...ACCESS_TABLES,
  ...OTHER_TABLES,
};

/** Deletes at most this number of a tenant's rows; returns how many. */
export const removeTenantRows = async (
  tx: Db,
  table: Table,
  tenantId: string,
  most: number,
): Promise<number> => {
  const where = sql`tenant_id = ${tenantId}`;
  const isOneOf = getDialect(tx).isAmongFirst(table, { where, order: ORDERS[table] ?? [], most });
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${isOneOf}`.execute(tx);
  return Number(numAffectedRows);
};

/** Selects all of a tenant's rows of a table, in an order that every export has. */
export const selectTenantRows = (db: Db, table: TenantTable, tenantId: string) =>
  (ORDERS[table] ?? []).reduce(
    (query, column) => query.orderBy(column as never),
    db.selectFrom(table).selectAll().where("tenant_id", "=", tenantId),
  );

/** Reads the names of every table's columns. */
export const readColumns = async (db: Db): Promise<Map<string, string[]>> => {
  const tables = await db.introspection.getTables();
  return new Map(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
};

/** Ids of these tables name jobs, so no other tenant may have them. */
const WITH_JOBS = ["schedules", "export_runs", "webhook_deliveries"] as const;

/** Finds one of these ids that another tenant has, in a table where that must not be. */
export const findTakenId = async (
  db: Db,
  table: Table,
  tenantId: string,
  ids: readonly string[],
): Promise<string | undefined> => {
  const named = WITH_JOBS.find((name) => name === table);
  if (named === undefined || ids.length === 0) return undefined;
  const row = await db
    .selectFrom(named)
    .select("id")
    .where("tenant_id", "<>", tenantId)
    .where("id", "in", ids)
    .executeTakeFirst();
  return row?.id;
};
