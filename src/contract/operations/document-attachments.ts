import { z } from "zod";
import { Timestamp } from "../fields.ts";
import { IngestNumber } from "../ingest-fields.ts";
import { defineOperations } from "../operation.ts";

/** Metadata of a document's PDF file. */
export const DocumentAttachment = z.object({
  id: z.string(),
  csrId: z.int(),
  documentNumber: z.string(),
  fileSize: z.int(),
  uploadedAt: Timestamp,
});

export const DocumentAttachments = z.object({
  document_number: z.string(),
  attachments: z.array(DocumentAttachment),
});

/** File metadata from the response headers of a download. */
export const DocumentFile = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  fileSize: z.int(),
});

const one = z.object({ document_number: IngestNumber.describe("of the invoice") });
const ATTACHMENTS = "/api/v1/ingest/documents/{document_number}/attachments";

export const document_attachments = defineOperations("ingest", "document_attachments", {
  list: {
    method: "GET",
    path: ATTACHMENTS,
    access: "ingest:read",
    summary: "List the PDF files of a document.",
    params: one,
    output: DocumentAttachments,
    list: { style: "attachments" },
    errors: ["document_not_found"],
    audit: "document_attachment.listed",
  },
  get: {
    method: "GET",
    path: `${ATTACHMENTS}/{id}`,
    access: "ingest:read",
    summary: "Download a PDF file of a document.",
    params: one.extend({ id: IngestNumber.describe("of the file, from the list") }),
    file: true,
    output: DocumentFile,
    errors: ["document_not_found", "attachment_not_found"],
    audit: "document_attachment.read",
  },
});
