import { z } from "zod";
import { text, Timestamp } from "../fields.ts";
import {
  clearable,
  IngestDate,
  IngestNumber,
  NoteAuthor,
  NoteText,
  optional,
} from "../ingest-fields.ts";
import { defineOperations } from "../operation.ts";

const optionalFields = {
  subject: text(500).describe("heading"),
  note_type: text(200).describe("such as call or promise"),
};

export const AccountNoteFields = z.object({
  reference: IngestNumber.meta({ description: "unique in the tenant" }),
  body: NoteText,
  ...optional(optionalFields),
  effective_date: IngestDate.optional().meta({
    description: "YYYY-MM-DD or date-time; default now",
  }),
});

/** A note on an account; it cannot be changed. */
export const AccountNote = z.object({
  reference: z.string(),
  account_number: z.string(),
  body: z.string(),
  ...clearable(optionalFields),
  effective_date: z.string(),
  created_at: Timestamp,
  created_by: NoteAuthor.optional(),
});
export type AccountNote = z.infer<typeof AccountNote>;

/** The query parameter that adds authors of notes, which the interface documents do not have. */
export const AUTHOR_QUERY = { author: z.boolean().optional().describe("with who wrote each note") };
export const AUTHOR_ADDITIONS = { name: "author", query: ["author"] };

const NOTES = "/api/v1/ingest/accounts/{account_number}/notes";

export const account_notes = defineOperations("ingest", "account_notes", {
  get: {
    method: "GET",
    path: `${NOTES}/{reference}`,
    access: "ingest:read",
    summary: "Read one note of an account.",
    params: z.object({
      account_number: IngestNumber.describe("of the customer"),
      reference: IngestNumber.describe("of the note"),
    }),
    query: z.strictObject(AUTHOR_QUERY),
    additions: AUTHOR_ADDITIONS,
    output: AccountNote,
    errors: ["account_not_found", "note_not_found"],
    audit: "account_note.read",
  },
  create: {
    method: "POST",
    path: NOTES,
    access: "ingest:write",
    summary: "Add a note to an account; it cannot be changed later.",
    params: z.object({ account_number: IngestNumber.describe("of the customer") }),
    body: AccountNoteFields,
    lateValidation: true,
    output: AccountNote,
    errors: ["account_not_found", "note_reference_already_exists"],
    audit: "account_note.created",
  },
});
