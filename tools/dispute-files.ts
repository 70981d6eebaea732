import { z } from "zod";
import { NoteVisibility, RecordId } from "../src/contract/fields.ts";
import { contract } from "../src/contract/index.ts";
import { defineOperation } from "../src/contract/operation.ts";
import {
  AttachmentName,
  DisputeAttachment,
} from "../src/contract/operations/dispute-attachments.ts";

const { dispute_attachments: files } = contract;
const SOURCES = ["text", "base64", "path"] as const;

const disputeParams = z.object({ disputeId: RecordId });

const UploadBody = z
  .object({
    fileName: AttachmentName,
    text: z.string().optional(),
    base64: z.base64().optional(),
    path: z.string().min(1).max(4096).optional(),
    visibility: NoteVisibility.optional(),
  })
  .superRefine((body, context) => {
    if (SOURCES.filter((name) => body[name] !== undefined).length === 1) return;
    context.addIssue({
      code: "custom",
      path: ["text"],
      message: "is required unless base64 or path is sent; send exactly one of the three",
      params: { code: "required" },
    });
  });

/** Upload as one operation; the MCP server runs it as create, PUT to the signed URL, and polls for the scan. */
export const uploadFile = defineOperation({
  id: "dispute_attachments.upload",
  service: "gateway",
  method: "POST",
  path: files.create.path,
  access: files.create.access,
  summary: "Attach a file to a dispute and wait for its virus scan.",
  params: disputeParams,
  body: UploadBody,
  output: DisputeAttachment,
  audit: "dispute_attachment.created",
});

/** A downloaded file, with its text if it is a text file. */
const DownloadedFile = z.object({
  attachmentId: z.string(),
  disputeId: z.string(),
  fileName: z.string(),
  mimeType: z.string(),
  fileSize: z.int(),
  text: z.string().optional(),
  truncated: z.boolean().optional(),
  resourceUri: z.string(),
});

/** Download as one operation; the MCP server runs it as get and a download from the signed URL. */
export const downloadFile = defineOperation({
  id: "dispute_attachments.download",
  service: "gateway",
  method: "GET",
  path: files.get.path,
  access: files.get.access,
  summary: "Read a dispute file: text inline, other types as a resource.",
  params: disputeParams.extend({ attachmentId: RecordId }),
  output: DownloadedFile,
  audit: "dispute_attachment.read",
});
