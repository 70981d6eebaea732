import type { Db } from "../../src/platform/store/port.ts";

// PostgreSQL lists the parts of divided tables as tables, too.
const PART = /^(?:audit_logs_.*|\w+_payments_\d+)$/;

/** Lists the tables of a store, without the parts of divided ones. */
export const listTables = async (db: Db) => {
  const tables = await db.introspection.getTables();
  return tables.filter(({ name }) => !PART.test(name));
};
