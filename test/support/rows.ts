import type { Kysely } from "kysely";
import type { Db } from "../../src/platform/store/port.ts";
import type { Tables } from "../../src/platform/store/tables/schema.ts";

/** Reads the rows whose columns have the values of `key`, in the order of some columns. */
export const findRows = <Name extends keyof Tables>(
  db: Db,
  name: Name,
  key: Partial<Tables[Name]>,
  ...order: (keyof Tables[Name] & string)[]
): Promise<Tables[Name][]> => {
  const table: string = name;
  const all = db as unknown as Kysely<Record<string, Record<string, unknown>>>;
  let query = all.selectFrom(table).selectAll();
  for (const [column, value] of Object.entries(key)) query = query.where(column, "=", value);
  for (const column of order) query = query.orderBy(column);
  return query.execute() as never;
};

/** Reads the first row whose columns have the values of `key`; there must be one. */
export const findRow = async <Name extends keyof Tables>(
  db: Db,
  name: Name,
  key: Partial<Tables[Name]>,
): Promise<Tables[Name]> => {
  const [row] = await findRows(db, name, key);
  if (row === undefined) throw new Error(`${name} has no such row`);
  return row;
};

/** A row as lists show it with all its fields: without nulls. */
export const withoutNulls = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      value === null
        ? []
        : [
            [
              name,
              typeof value === "object" && !Array.isArray(value) ? withoutNulls(value) : value,
            ],
          ],
    ),
  );
