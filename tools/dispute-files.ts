import { z } from "zod";
import { NoteVisibility, RecordId } from "../src/contract/fields.ts";
import { contract } from "../src/contract/index.ts";
import { defineOperation } from "../src/contract/operation.ts";
import {
  AttachmentName,
  DisputeAttachment,
} from "../src/contract/operations/dispute-attachments.ts";

/** What the server does by several operations and a signed URL, in the form of one operation. */

const { dispute_attachments: files } = contract;
const SOURCES = ["text", "base64", "path"] as const;

/** The parameters that steer neither tenant nor credential. */
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
      message: "or else base64 or path is required, and only one of them",
      params: { code: "required" },
    });
  });

export const uploadFile = defineOperation({
  id: "dispute_attachments.upload",
  service: "gateway",
  method: "POST",
  path: files.create.path,
  access: files.create.access,
  summary: "Attach a file to a dispute and wait until it is scanned.",
  params: disputeParams,
  body: UploadBody,
  output: DisputeAttachment,
  audit: "dispute_attachment.created",
  source: files.create.source,
});

/** A file that was downloaded: its text, where it is one. */
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

export const downloadFile = defineOperation({
  id: "dispute_attachments.download",
  service: "gateway",
  method: "GET",
  path: files.get.path,
  access: files.get.access,
  summary: "Read the file itself: the text of a text file, others as a resource.",
  params: disputeParams.extend({ attachmentId: RecordId }),
  output: DownloadedFile,
  audit: "dispute_attachment.read",
  source: files.get.source,
});
