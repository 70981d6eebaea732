import { sql } from "kysely";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

const KEYS = { accounts: "account_number", documents: "document_number" } as const;

/** Returns the bytes of the stored fields of records by their numbers. The databases know them without reading the text. */
export const measureFields = async (
  db: Db,
  table: keyof typeof KEYS,
  tenantId: string,
  numbers: readonly string[],
): Promise<Map<string, number>> => {
  if (numbers.length === 0) return new Map();
  const key = KEYS[table];
  const { rows } = await sql<{ number: string; bytes: number | string }>`
    select ${sql.ref(key)} as number, octet_length(fields) as bytes from ${sql.table(table)}
    where tenant_id = ${tenantId} and ${getDialect(db).isAmongKeys(key, numbers)}`.execute(db);
  return new Map(rows.map(({ number, bytes }) => [number, Number(bytes)]));
};
