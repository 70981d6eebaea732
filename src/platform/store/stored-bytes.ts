import type { Db } from "./port.ts";

/** Sums the sizes of a tenant's stored files: attachments of disputes, PDFs of documents, chunks of runs. */
export const countStoredBytes = async (db: Db, tenantId: string): Promise<number> => {
  const [disputes, documents, chunks] = await Promise.all([
    db
      .selectFrom("dispute_attachments")
      .select((of) => of.fn.sum<number | string | null>("file_size").as("bytes"))
      .where("tenant_id", "=", tenantId)
      .where("file_key", "is not", null)
      .executeTakeFirst(),
    db
      .selectFrom("document_attachments")
      .select((of) => of.fn.sum<number | string | null>("file_size").as("bytes"))
      .where("tenant_id", "=", tenantId)
      .executeTakeFirst(),
    db
      .selectFrom("run_chunks")
      .select((of) => of.fn.sum<number | string | null>("file_size").as("bytes"))
      .where("tenant_id", "=", tenantId)
      .executeTakeFirst(),
  ]);
  return [disputes, documents, chunks].reduce((sum, row) => sum + Number(row?.bytes ?? 0), 0);
};
