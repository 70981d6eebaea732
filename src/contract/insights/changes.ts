import { z } from "zod";
import { Cursor, Pagination, Timestamp } from "../fields.ts";

/** Actions of the audit log that change disputes, their notes and files, and documents. */
export const CHANGE_ACTIONS = [
  "dispute.created",
  "dispute.updated",
  "dispute.closed",
  "dispute.canceled",
  "dispute.reopened",
  "dispute.deleted",
  "dispute_note.created",
  "dispute_note.updated",
  "dispute_note.deleted",
  "dispute_attachment.created",
  "dispute_attachment.updated",
  "dispute_attachment.deleted",
  "document.closed",
  "document.updated",
  "document.replaced",
] as const;

/** Facts of an audit entry that tell what happened to a dispute or document: ids, numbers and short words. */
export const CHANGE_FACTS = [
  "disputeId",
  "document_number",
  "resourceId",
  "actor",
  "mcpTool",
  "changed",
  "assigneeId",
  "formerAssigneeId",
  "status",
  "formerStatus",
  "formerClosedDate",
] as const;

/** A change of a dispute, of its notes and files, or of a document, in the form of the audit log. */
export const RecordedChange = z.object({
  action: z.string(),
  timestamp: Timestamp,
  metadata: z.record(z.string(), z.unknown()),
});
export type RecordedChange = z.infer<typeof RecordedChange>;

export const ChangesBody = z.strictObject({
  since: Timestamp.describe("first moment"),
  until: Timestamp.describe("last moment"),
  actions: z
    .array(z.enum(CHANGE_ACTIONS))
    .min(1)
    .optional()
    .describe("of the audit log; without them, what records tell is listed too"),
  cursor: Cursor.optional(),
  limit: z.int().min(1).max(1000).default(1000).describe("changes of a page; default 1000"),
});

/** Changes from the audit log, newest first, then notes, files and closings of documents as records tell them. */
export const ChangesPage = z.object({ data: z.array(RecordedChange), pagination: Pagination });
