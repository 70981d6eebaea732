import type { Kysely, SelectQueryBuilder } from "kysely";
import type { Db } from "../port.ts";
import type { Tables } from "../tables/schema.ts";
import { getDialect } from "./dialect.ts";

type Owned = { tenant_id: string };
type TenantTables = {
  [Name in keyof Tables as Tables[Name] extends Owned ? Name : never]: Tables[Name];
};

/** Selects among a tenant's rows of a table; the caller names the columns. */
export const ofTenant = <Name extends keyof TenantTables>(
  db: Db,
  name: Name,
  tenantId: string,
): SelectQueryBuilder<Tables, Name, object> =>
  (db as unknown as Kysely<{ owned: Owned }>)
    .selectFrom(name as unknown as "owned")
    .where("tenant_id", "=", tenantId) as never;

/** Selects a tenant's rows of a table with all their columns. */
export const rowsOfTenant = <Name extends keyof TenantTables>(
  db: Db,
  name: Name,
  tenantId: string,
): SelectQueryBuilder<Tables, Name, Tables[Name]> =>
  ofTenant(db, name, tenantId).selectAll() as never;

/** Creates the query of a tenant's rows that have one of several keys in a column. */
export const createFindAmong =
  <Name extends keyof TenantTables>(name: Name, column: keyof TenantTables[Name] & string) =>
  (db: Db, tenantId: string, keys: readonly string[]): Promise<Tables[Name][]> =>
    rowsOfTenant(db, name, tenantId)
      .where(getDialect(db).isAmongKeys(column, keys))
      .execute() as never;

/** Counts the rows of a query that selects nothing yet. */
export const countOf = async <DB, TB extends keyof DB>(
  query: SelectQueryBuilder<DB, TB, object>,
): Promise<number> => {
  const counted = query.select((eb) => eb.fn.countAll().as("total"));
  const { total } = (await counted.executeTakeFirstOrThrow()) as { total: unknown };
  return Number(total);
};

/** Any of the tables: the types of columns are checked where the queries are created. */
const untyped = (db: Db) => db as unknown as Kysely<Record<string, Record<string, unknown>>>;

type Named<Name extends keyof Tables> = Partial<Tables[Name]>;

/** Runs a removal; returns the number of rows that were removed. */
export const countRemoved = async (removal: {
  executeTakeFirstOrThrow(): Promise<{ numDeletedRows: bigint }>;
}): Promise<number> => Number((await removal.executeTakeFirstOrThrow()).numDeletedRows);

/** Removes the rows whose columns have the values of `key`; returns how many there were. */
export const removeRows = <Name extends keyof Tables>(
  tx: Db,
  name: Name,
  key: Named<Name>,
): Promise<number> => {
  const table: string = name;
  let query = untyped(tx).deleteFrom(table);
  for (const [column, value] of Object.entries(key)) query = query.where(column, "=", value);
  return countRemoved(query);
};

/** Changes the rows whose columns have the values of `key`; returns how many there were. */
export const changeRows = async <Name extends keyof Tables>(
  tx: Db,
  name: Name,
  key: Named<Name>,
  change: Named<Name>,
): Promise<number> => {
  const table: string = name;
  let query = untyped(tx).updateTable(table).set(change);
  for (const [column, value] of Object.entries(key)) {
    query = query.where(column, value === null ? "is" : "=", value);
  }
  return Number((await query.executeTakeFirstOrThrow()).numUpdatedRows);
};
