import type { Db } from "../port.ts";
import { removeRows, rowsOfTenant } from "../engine/rows.ts";

const ofDocument = (db: Db, tenantId: string, documentNumber: string) =>
  rowsOfTenant(db, "document_attachments", tenantId).where("document_number", "=", documentNumber);

/** Lists a document's attachments, oldest first. */
export const listAttachments = (db: Db, tenantId: string, documentNumber: string) =>
  ofDocument(db, tenantId, documentNumber).orderBy("uploaded_at").orderBy("id").execute();

export const findAttachment = (
  db: Db,
  tenantId: string,
  { documentNumber, id }: { documentNumber: string; id: string },
) => ofDocument(db, tenantId, documentNumber).where("id", "=", id).executeTakeFirst();

/** Removes a document's attachments; returns the keys of their files. */
export const deleteAttachments = async (
  tx: Db,
  tenantId: string,
  documentNumber: string,
): Promise<string[]> => {
  const rows = await listAttachments(tx, tenantId, documentNumber);
  await removeRows(tx, "document_attachments", {
    tenant_id: tenantId,
    document_number: documentNumber,
  });
  return rows.map(({ file_key }) => file_key);
};
