import { sql } from "kysely";
import { createKeyedTable } from "./coded-table.ts";
import { formatDisputeCode, insertDisputes as insertCoded } from "./disputes.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import type { DisputeRow } from "../tables/schema.ts";
import { createFindAmong, ofTenant } from "../engine/rows.ts";

// Keeps the number of parameters well below the limits of both databases.
const BATCH_ROWS = 100;

/** Finds the disputes that were imported under these keys. */
export const findImportedDisputes = createFindAmong("disputes", "source_key");

export type NamedDispute = Pick<DisputeRow, "id" | "code" | "document_number" | "source_key">;

/** Finds disputes by any of these columns. */
export const findNamedDisputes = async (
  db: Db,
  tenantId: string,
  named: Partial<Record<keyof NamedDispute, readonly string[]>>,
): Promise<NamedDispute[]> => {
  const found = new Map<string, NamedDispute>();
  for (const [column, values = []] of Object.entries(named)) {
    if (values.length === 0) continue;
    const rows = await ofTenant(db, "disputes", tenantId)
      .select(["id", "code", "document_number", "source_key"])
      .where(getDialect(db).isAmongKeys(column, [...new Set(values)]))
      .execute();
    for (const row of rows) found.set(row.id, row);
  }
  return [...found.values()];
};

/** Reserves a dispute number for each occurrence of a document; returns the last number per document. */
const takeNumbers = async (tx: Db, tenantId: string, documentNumbers: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const number of documentNumbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const taken = await tx
    .insertInto("dispute_sequences")
    .values(
      [...counts].map(([document_number, last]) => ({
        tenant_id: tenantId,
        document_number,
        last,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "document_number"])
        .doUpdateSet({ last: sql`dispute_sequences.last + excluded.last` }),
    )
    .returning(["document_number", "last"])
    .execute();
  return new Map(
    taken.map(({ document_number, last }) => [
      document_number,
      last - (counts.get(document_number) ?? 0),
    ]),
  );
};

/** Inserts disputes in the given order with their next codes. */
export const insertNumbered = async (
  tx: Db,
  tenantId: string,
  rows: readonly Omit<DisputeRow, "code">[],
): Promise<void> => {
  for (let from = 0; from < rows.length; from += BATCH_ROWS) {
    const batch = rows.slice(from, from + BATCH_ROWS);
    const last = await takeNumbers(
      tx,
      tenantId,
      batch.map((row) => row.document_number),
    );
    const coded = batch.map((row) => {
      const number = (last.get(row.document_number) ?? 0) + 1;
      last.set(row.document_number, number);
      return { ...row, code: formatDisputeCode(row.document_number, number) };
    });
    await insertCoded(tx, coded);
  }
};

/** Lists what imports remember of the first `most` disputes after an id. */
export const listSourceRows = (db: Db, tenantId: string, after: string, most: number) =>
  ofTenant(db, "disputes", tenantId)
    .select(["id", "source_row"])
    .where("id", ">", after)
    .orderBy("id")
    .limit(most)
    .execute();

export const { update: updateImported } = createKeyedTable("disputes");
