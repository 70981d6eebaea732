import type { Db } from "../port.ts";
import type { DocumentAttachmentRow } from "../tables/schema.ts";

const ofDocument = (db: Db, tenantId: string, documentNumber: string) =>
  db
    .selectFrom("document_attachments")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("document_number", "=", documentNumber);

/** Lists a document's attachments, oldest first. */
export const listAttachments = (
  db: Db,
  tenantId: string,
  documentNumber: string,
): Promise<DocumentAttachmentRow[]> =>
  ofDocument(db, tenantId, documentNumber).orderBy("uploaded_at").orderBy("id").execute();

export const findAttachment = (
  db: Db,
  tenantId: string,
  { documentNumber, id }: { documentNumber: string; id: string },
): Promise<DocumentAttachmentRow | undefined> =>
  ofDocument(db, tenantId, documentNumber).where("id", "=", id).executeTakeFirst();

/** Removes a document's attachments; returns the keys of their files. */
export const deleteAttachments = async (
  tx: Db,
  tenantId: string,
  documentNumber: string,
): Promise<string[]> => {
  const rows = await listAttachments(tx, tenantId, documentNumber);
  await tx
    .deleteFrom("document_attachments")
    .where("tenant_id", "=", tenantId)
    .where("document_number", "=", documentNumber)
    .execute();
  return rows.map(({ file_key }) => file_key);
};
