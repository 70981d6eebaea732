import type { Db } from "./port.ts";
import { prepared } from "./prepared.ts";
import type { DocumentClosureRow, DocumentRow } from "./tables.ts";

const documentByNumber = prepared((db: Db, tenantId: string, number: string) =>
  db
    .selectFrom("documents")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("document_number", "=", number),
);

export const findDocument = async (
  db: Db,
  tenantId: string,
  number: string,
): Promise<DocumentRow | undefined> => (await documentByNumber(db, tenantId, number))[0];

/** Several documents at once, for imports. */
export const findDocuments = (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<DocumentRow[]> =>
  db
    .selectFrom("documents")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("document_number", "in", numbers)
    .execute();

export const insertDocuments = async (tx: Db, rows: readonly DocumentRow[]): Promise<void> => {
  if (rows.length > 0) await tx.insertInto("documents").values(rows).execute();
};

export const updateDocument = async (tx: Db, row: DocumentRow): Promise<void> => {
  await tx
    .updateTable("documents")
    .set(row)
    .where("tenant_id", "=", row.tenant_id)
    .where("document_number", "=", row.document_number)
    .execute();
};

export type NewClosure = Pick<
  DocumentClosureRow,
  "document_number" | "closure_reason" | "source" | "closed_at" | "notes"
>;

/** Adds a closure to the history of each document; no document may be named twice. */
export const addClosures = async (
  tx: Db,
  { tenantId, caller, now }: { tenantId: string; caller: { id: string }; now: number },
  closures: readonly NewClosure[],
): Promise<void> => {
  const numbers = closures.map(({ document_number }) => document_number);
  const known = await tx
    .selectFrom("document_closures")
    .select("document_number")
    .select((eb) => eb.fn.max("number").as("last"))
    .where("tenant_id", "=", tenantId)
    .where("document_number", "in", numbers)
    .groupBy("document_number")
    .execute();
  const last = new Map(known.map((row) => [row.document_number, Number(row.last)]));
  await tx
    .insertInto("document_closures")
    .values(
      closures.map((closure) => ({
        tenant_id: tenantId,
        number: (last.get(closure.document_number) ?? 0) + 1,
        ...closure,
        created_by: caller.id,
        created_at: now,
      })),
    )
    .execute();
};

/** How often and why a document was closed, oldest first. */
export const listClosures = (
  db: Db,
  tenantId: string,
  documentNumber: string,
): Promise<DocumentClosureRow[]> =>
  db
    .selectFrom("document_closures")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("document_number", "=", documentNumber)
    .orderBy("number")
    .execute();
