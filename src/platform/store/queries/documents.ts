import { sql } from "kysely";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";
import type { DocumentClosureRow, DocumentRow } from "../tables/schema.ts";
import { createUpsert, insertAll } from "../engine/bulk-writes.ts";
import { createFindAmong, ofTenant, removeRows, rowsOfTenant } from "../engine/rows.ts";

export const findDocument = prepareFind((db: Db, tenantId: string, number: string) =>
  rowsOfTenant(db, "documents", tenantId).where("document_number", "=", number),
);

/** Finds several documents at once, for imports. */
export const findDocuments = createFindAmong("documents", "document_number");

/**
 * Finds documents by the keys of their document and invoice numbers (see `toNumberKey`), also those that have the
 * numbers as they are written.
 */
export const findDocumentsByKeys = async (
  db: Db,
  tenantId: string,
  { keys, numbers }: { keys: readonly string[]; numbers: readonly string[] },
): Promise<DocumentRow[]> => {
  const all = [...new Set([...keys, ...numbers])];
  if (all.length === 0) return [];
  const { isAmongKeys } = getDialect(db);
  const select = (column: string, values: readonly string[]) =>
    sql`select * from documents where tenant_id = ${tenantId} and ${sql.ref(column)} is not null
      and ${isAmongKeys(column, values)}`;
  // One index each: a condition with "or" would read all documents of the tenant.
  const parts = [
    select("document_number", all),
    select("invoice_num", all),
    select("number_key", keys),
    select("invoice_key", keys),
  ];
  const { rows } = await sql<DocumentRow>`${sql.join(parts, sql` union all `)}`.execute(db);
  return [...new Map(rows.map((row) => [row.document_number, row])).values()];
};

/** The columns in which a customer's number is sought, and whether they have it as written or as its key. */
const SOUGHT = [
  ["invoice_num", "numbers"],
  ["number_key", "keys"],
  ["invoice_key", "keys"],
  ["po_key", "keys"],
] as const;

/** A document that was found; `place` counts those of one number in one column from 0. */
export type Found = { place: number; document_number: string };

/**
 * Finds the numbers of the documents that have one of some numbers, or its key (see `toNumberKey`), as their document,
 * invoice or purchase order number: at most `most` of each in a column. A purchase order may have any number of them.
 */
export const findSoughtDocuments = async (
  db: Db,
  tenantId: string,
  values: { keys: readonly string[]; numbers: readonly string[] },
  most: number,
): Promise<Found[]> => {
  const exact = await ofTenant(db, "documents", tenantId)
    .select("document_number")
    .where(getDialect(db).isAmongKeys("document_number", [...values.numbers, ...values.keys]))
    .execute();
  const found: Found[] = exact.map(({ document_number }) => ({ place: 0, document_number }));
  for (const [column, kind] of SOUGHT) {
    if (values[kind].length === 0) continue;
    const parts = values[kind].map(
      (value, index) => sql`select ${sql.lit(index)} as number, document_number from (
        select document_number from documents
        where tenant_id = ${tenantId} and ${sql.ref(column)} = ${value} limit ${sql.lit(most)}
      ) as found`,
    );
    const { rows } = await sql<{ number: number; document_number: string }>`
      ${sql.join(parts, sql` union all `)}`.execute(db);
    for (const own of Map.groupBy(rows, ({ number }) => number).values()) {
      found.push(...own.map(({ document_number }, place) => ({ place, document_number })));
    }
  }
  return found;
};

/** Finds the credit notes that reduce invoices, by the keys of the invoices' numbers. */
export const findCreditsOf = (db: Db, tenantId: string, keys: readonly string[]) =>
  rowsOfTenant(db, "documents", tenantId)
    .where("document_type", "=", "credit_note")
    .where("applies_to_key", "is not", null)
    .where(getDialect(db).isAmongKeys("applies_to_key", keys))
    .execute();

/** Inserts or replaces complete documents; no two may have the same number. */
export const putDocuments = createUpsert("documents", ["tenant_id", "document_number"]);

export const removeDocument = (tx: Db, tenantId: string, number: string) =>
  removeRows(tx, "documents", { tenant_id: tenantId, document_number: number });

export type NewClosure = Pick<
  DocumentClosureRow,
  "document_number" | "closure_reason" | "source" | "closed_at" | "notes"
>;

/** Adds a closure to the history of each document; each document may occur once. */
export const addClosures = async (
  tx: Db,
  { tenantId, caller, now }: { tenantId: string; caller: { id: string }; now: number },
  closures: readonly NewClosure[],
): Promise<void> => {
  const numbers = closures.map(({ document_number }) => document_number);
  const known = await ofTenant(tx, "document_closures", tenantId)
    .select("document_number")
    .select((eb) => eb.fn.max("number").as("last"))
    .where(getDialect(tx).isAmongKeys("document_number", numbers))
    .groupBy("document_number")
    .execute();
  const last = new Map(known.map((row) => [row.document_number, row.last]));
  await insertAll(
    tx,
    "document_closures",
    closures.map((closure) => ({
      tenant_id: tenantId,
      number: (last.get(closure.document_number) ?? 0) + 1,
      ...closure,
      created_by: caller.id,
      created_at: now,
    })),
  );
};

/** Lists the closures of documents, oldest first. */
export const listClosuresOf = (db: Db, tenantId: string, numbers: readonly string[]) =>
  rowsOfTenant(db, "document_closures", tenantId)
    .where(getDialect(db).isAmongKeys("document_number", numbers))
    .orderBy("number")
    .execute();

/** Finds the last closure of each document. */
export const findLastClosures = async (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<DocumentClosureRow[]> => {
  const closures = await listClosuresOf(db, tenantId, numbers);
  return [...new Map(closures.map((closure) => [closure.document_number, closure])).values()];
};

/** Selects an account's documents with their last closures; null for a document that was never closed. */
export const selectPaidDocuments = (db: Db, tenantId: string, accountNumber: string) =>
  db
    .selectFrom("documents as d")
    .leftJoin("document_closures as c", (on) =>
      on
        .onRef("c.tenant_id", "=", "d.tenant_id")
        .onRef("c.document_number", "=", "d.document_number")
        .on((eb) =>
          eb(
            "c.number",
            "=",
            eb
              .selectFrom("document_closures as l")
              .select((last) => last.fn.max("l.number").as("number"))
              .whereRef("l.tenant_id", "=", "d.tenant_id")
              .whereRef("l.document_number", "=", "d.document_number"),
          ),
        ),
    )
    .where("d.tenant_id", "=", tenantId)
    .where("d.account_number", "=", accountNumber)
    .select([
      "d.status",
      "d.currency",
      "d.fields",
      "d.updated_at",
      "c.closed_at",
      "c.closure_reason",
    ]);

export type PaidDocument = Awaited<
  ReturnType<ReturnType<typeof selectPaidDocuments>["execute"]>
>[number];
