import { z } from "zod";
import { NoteVisibility, Timestamp } from "../fields.ts";
import { DOCUMENT_STATES } from "./dispute-filters.ts";

/** As much of a note as an activity shows, in characters. */
export const LAST_NOTE_CHARACTERS = 300;

/** The latest events of a dispute, and the state of its document. */
export const DisputeActivity = z.object({
  disputeId: z.string(),
  lastActivityDate: Timestamp.meta({
    description: "the newest change of the dispute, of its notes and of its files",
  }),
  noteCount: z.int(),
  attachmentCount: z.int(),
  lastNote: z
    .object({
      content: z.string().meta({ description: `at most ${LAST_NOTE_CHARACTERS} characters` }),
      visibility: NoteVisibility,
      createUser: z.string(),
      createDate: Timestamp,
    })
    .nullable(),
  documentStatus: z
    .enum(DOCUMENT_STATES)
    .meta({ description: "missing: the platform has no such document" }),
  documentClosedDate: Timestamp.nullable(),
});
export type DisputeActivity = z.infer<typeof DisputeActivity>;
