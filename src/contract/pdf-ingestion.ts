import { z } from "zod";
import { Timestamp } from "./fields.ts";
import { IngestNumber } from "./ingest-fields.ts";
import { defineOperation } from "./operation.ts";

const MIB = 1024 * 1024;
export const PDF_TYPE = "application/pdf";

/** That a PDF was taken. */
export const PdfReceipt = z.object({
  document_number: z.string(),
  id: z.string(),
  fileSize: z.int(),
  uploadedAt: Timestamp,
});

/** Where billing systems hand in PDFs. It is no operation of the contract: a model has no files to send. */
export const pdf_ingestion = {
  upload: defineOperation({
    id: "document_attachments.upload",
    service: "ingest",
    method: "POST",
    path: "/api/v1/pdf-ingestion/pdf/{connectionId}/ingest_documents/{document_number}",
    access: "ingest:write",
    effect: "change",
    summary: "Upload the PDF file of a document, in the place of those it has.",
    params: z.object({
      connectionId: z.string().meta({ description: "the tenant's own" }),
      document_number: IngestNumber,
    }),
    query: z.object({
      append: z
        .enum(["true", "false"])
        .optional()
        .meta({ description: "true: beside those it has" }),
    }),
    raw: { type: PDF_TYPE, maxBytes: 25 * MIB },
    output: PdfReceipt,
    fails: ["document_not_found"],
    audit: "document_attachment.created",
    source: "D-PDF",
  }),
};
