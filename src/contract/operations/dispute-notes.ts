import { z } from "zod";
import { boundFaults } from "../faults.ts";
import {
  auditFields,
  NoteVisibility,
  paging,
  RecordId,
  requiredText,
  sortBy,
  tenantPath,
} from "../fields.ts";
import { defineOperations } from "../operation.ts";

export const DisputeNote = z.object({
  disputeNoteId: z.string(),
  tenantId: z.string(),
  disputeId: z.string(),
  content: z.string(),
  visibility: NoteVisibility,
  ...auditFields,
});
export type DisputeNote = z.infer<typeof DisputeNote>;

export const NOTE_SORT = ["CreateDate", "UpdateDate"] as const;

export const NoteContent = requiredText(10_000).describe("up to 10,000 characters");

const NOTES = "/dispute/v1/tenants/{tenantId}/disputes/{disputeId}/disputenotes";
const many = z.object({ ...tenantPath, disputeId: RecordId });
const one = many.extend({ noteId: RecordId.describe("from the list of notes") });

export const dispute_notes = defineOperations("gateway", "dispute_notes", {
  get: {
    method: "GET",
    path: `${NOTES}/{noteId}`,
    access: "Dispute Management : READ",
    summary: "Read one note of a dispute.",
    params: one,
    output: DisputeNote,
    audit: "dispute_note.read",
  },
  list: {
    method: "GET",
    path: NOTES,
    access: "Dispute Management : READ",
    summary: "List a dispute's notes, newest first.",
    params: many,
    query: z.strictObject({
      Visibility: z
        .array(boundFaults(NoteVisibility))
        .min(1)
        .optional()
        .describe("any of; All: seen by the customer"),
      Sort: sortBy(NOTE_SORT).optional(),
      ...paging,
    }),
    output: z.array(DisputeNote),
    audit: "dispute_note.listed",
  },
  create: {
    method: "POST",
    path: NOTES,
    access: "Dispute Management : UPDATE",
    summary: "Add a note to a dispute; Internal by default.",
    params: many,
    body: z.object({ content: NoteContent, visibility: NoteVisibility.optional() }),
    output: DisputeNote,
    audit: "dispute_note.created",
  },
  update: {
    method: "PUT",
    path: `${NOTES}/{noteId}`,
    access: "Dispute Management : UPDATE",
    summary: "Update a note's content or visibility.",
    params: one,
    body: z.object({
      content: NoteContent.optional(),
      visibility: NoteVisibility.optional(),
    }),
    output: DisputeNote,
    audit: "dispute_note.updated",
  },
  delete: {
    method: "DELETE",
    path: `${NOTES}/{noteId}`,
    access: "Dispute Management : DELETE",
    summary: "Delete a note of a dispute.",
    params: one,
    output: null,
    effects: [{ kind: "deletes", target: "note of a dispute" }],
    audit: "dispute_note.deleted",
  },
});
