import { z } from "zod";
import { Timestamp } from "./fields.ts";
import { IngestNumber } from "./ingest-fields.ts";
import { defineOperation } from "./operation.ts";

const MIB = 1024 * 1024;
export const PDF_TYPE = "application/pdf";

/** The receipt of an uploaded PDF. */
export const PdfReceipt = z.object({
  document_number: z.string(),
  id: z.string(),
  fileSize: z.int(),
  uploadedAt: Timestamp,
});

/** PDF upload for billing systems. It is not part of `contract`, so client and tools do not offer it. */
export const pdf_ingestion = {
  upload: defineOperation({
    id: "document_attachments.upload",
    service: "ingest",
    method: "POST",
    path: "/api/v1/pdf-ingestion/pdf/{connectionId}/ingest_documents/{document_number}",
    access: "ingest:write",
    effect: "change",
    summary: "Upload a document's PDF file; it replaces existing files unless append is true.",
    params: z.object({
      connectionId: z.string().meta({ description: "connection id of the tenant" }),
      document_number: IngestNumber,
    }),
    query: z.strictObject({
      append: z
        .enum(["true", "false"])
        .optional()
        .meta({ description: "true: keep existing files" }),
    }),
    raw: { type: PDF_TYPE, maxBytes: 25 * MIB },
    output: PdfReceipt,
    errors: ["document_not_found"],
    audit: "document_attachment.created",
  }),
};
