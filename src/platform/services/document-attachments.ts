import type { Contract } from "../../contract/index.ts";
import { PDF_TYPE } from "../../contract/pdf-ingestion.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { toSafeName } from "../files/name.ts";
import type { FileStore } from "../files/port.ts";
import type { Handlers } from "../handlers.ts";
import { findAttachment, listAttachments } from "../store/queries/document-attachments.ts";
import type { DocumentRow } from "../store/tables/schema.ts";
import { readDocument } from "./ingest/call.ts";
import { parseDocument } from "./ingest/stored.ts";
import { shorten } from "./records.ts";

const formatName = (document: DocumentRow): string => {
  const otherwise = toSafeName(
    `${document.document_number.replaceAll("/", "-")}.pdf`,
    "document.pdf",
  );
  return toSafeName(parseDocument(document).pdf_name ?? otherwise, otherwise);
};

/** Handlers of the PDF files of documents. */
export const document_attachments = ({
  files,
}: {
  files: FileStore;
}): Handlers<Contract["document_attachments"]> => ({
  async list({ params: { document_number } }, call) {
    const { db, tenantId } = call;
    const document = await readDocument(db, call, document_number);
    const rows = await listAttachments(db, tenantId, document_number);
    const attachments = rows.map((row) => ({
      id: row.id,
      csrId: document.csr_id,
      documentNumber: row.document_number,
      fileSize: row.file_size,
      uploadedAt: formatTimestamp(row.uploaded_at),
    }));
    return { body: { document_number, attachments } };
  },

  async get({ params: { document_number, id } }, call) {
    const { db, tenantId } = call;
    const document = await readDocument(db, call, document_number);
    const find = () => findAttachment(db, tenantId, { documentNumber: document_number, id });
    const missing = () =>
      call.fail("attachment_not_found", `There is no attachment ${shorten(id)} of this document.`);
    const row = (await find()) ?? missing();
    const file = await files.open(row.file_key);
    if (file === undefined) {
      // An upload in its place removes the record before the file.
      if ((await find()) === undefined) return missing();
      throw new Error(`the file of attachment ${row.id} is lost`);
    }
    const fileName = formatName(document);
    return { body: { fileName, mimeType: PDF_TYPE, fileSize: file.size, bytes: file.bytes } };
  },
});
