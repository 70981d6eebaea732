import { z } from "zod";
import { boundFaults } from "../faults.ts";
import { findExtension, FILE_TYPES, OTHER_TYPES_HINT, toAllowedName } from "../file-types.ts";
import { auditFields, NoteVisibility, RecordId, requiredText, tenantPath } from "../fields.ts";
import { defineOperations } from "../operation.ts";

// Path separators, control characters, and bidirectional formatting characters, which can disguise an extension.
const UNSAFE = /[/\\:]|\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

const isSafe = (name: string): boolean => !UNSAFE.test(name) && !name.startsWith(".");

const createName = (toChecked: (name: string) => string) =>
  requiredText(255)
    .overwrite((name) => name.normalize("NFC"))
    .refine(isSafe, {
      error: "must be a plain file name: no path, no control character, no leading dot",
      params: { code: "format" },
    })
    .refine((name) => findExtension(toChecked(name)) !== undefined, {
      error: `must end in one of ${Object.keys(FILE_TYPES).join(" ")}; ${OTHER_TYPES_HINT}`,
      params: { code: "enum" },
    })
    .meta({
      description: `ending in ${Object.keys(FILE_TYPES).join(" ")}`,
      examples: ["invoice-4711.pdf"],
    });

export const AttachmentName = createName((name) => name);

/** A name that is sent as an {@link AttachmentName}: .jpg becomes .jpeg. */
export const LocalFileName = createName(toAllowedName);

// Not an enum: other platforms may have more statuses and failure reasons.
const Status = z.string().meta({
  description:
    "PendingScan until the file is uploaded and scanned, then Available, Infected, Rejected, Failed or Expired",
});

const CodedMessage = z.unknown().meta({
  type: "object",
  properties: { code: { type: "string" }, message: { type: "string" } },
  required: ["code", "message"],
});

export const DisputeAttachment = z.object({
  attachmentId: z.string(),
  tenantId: z.string(),
  disputeId: z.string(),
  fileName: z.string(),
  downloadUrl: z
    .string()
    .nullable()
    .meta({ description: "signed URL with an expiry; empty unless Available; null in lists" }),
  uploadId: z.string(),
  status: Status,
  visibility: NoteVisibility,
  attachmentStorageKey: z.string(),
  failureReasons: z.array(CodedMessage),
  /** An addition to the interface documents; other platforms may not have it. */
  warnings: z.array(CodedMessage).optional(),
  ...auditFields,
});
export type DisputeAttachment = z.infer<typeof DisputeAttachment>;

/** A signed upload URL: takes the file's bytes by PUT, once, without a credential. */
export const AttachmentUpload = z.object({
  uploadId: z.string(),
  uploadUrl: z.string(),
  attachmentId: z.string().optional(),
});

export const AttachmentVisibility = z.object({
  attachmentId: z.string(),
  disputeId: z.string(),
  visibility: NoteVisibility,
});

const ATTACHMENTS = "/dispute/v1/tenants/{tenantId}/disputes/{disputeId}/attachments";
const many = z.object({ ...tenantPath, disputeId: RecordId });
const one = many.extend({ attachmentId: RecordId.describe("from the list of files") });

export const dispute_attachments = defineOperations("gateway", "dispute_attachments", {
  get: {
    method: "GET",
    path: `${ATTACHMENTS}/{attachmentId}`,
    access: "Dispute Management : READ",
    summary: "Get a dispute file's status and, once Available, a temporary download URL.",
    params: one,
    output: DisputeAttachment,
    audit: "dispute_attachment.read",
  },
  list: {
    method: "GET",
    path: ATTACHMENTS,
    access: "Dispute Management : READ",
    summary: "List a dispute's files, newest first.",
    params: many,
    query: z.strictObject({ Visibility: z.array(boundFaults(NoteVisibility)).min(1).optional() }),
    output: z.array(DisputeAttachment),
    audit: "dispute_attachment.listed",
  },
  create: {
    method: "POST",
    path: ATTACHMENTS,
    access: "Dispute Management : UPDATE",
    summary: "Create a dispute attachment and get its upload URL.",
    params: many,
    body: z.object({ fileName: AttachmentName, visibility: NoteVisibility.optional() }),
    output: AttachmentUpload,
    audit: "dispute_attachment.created",
  },
  update: {
    method: "PUT",
    path: `${ATTACHMENTS}/{attachmentId}`,
    access: "Dispute Management : UPDATE",
    summary: "Update a dispute file's visibility.",
    params: one,
    body: z.object({ visibility: NoteVisibility.optional() }),
    output: AttachmentVisibility,
    audit: "dispute_attachment.updated",
  },
  delete: {
    method: "DELETE",
    path: `${ATTACHMENTS}/{attachmentId}`,
    access: "Dispute Management : UPDATE",
    summary: "Permanently delete a dispute file.",
    params: one,
    output: null,
    effects: [{ kind: "deletes", target: "file of a dispute" }],
    audit: "dispute_attachment.deleted",
  },
});
