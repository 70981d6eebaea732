import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** When each lane of jobs was last served, and the indexes behind fair turns and the sums of stored bytes. */
export const fairTurns = (types: Types): Migration =>
  addition(types, {
    tables: {
      job_turns: {
        columns: { kind: "text", lane: "text", served_at: "integer" },
        key: ["kind", "lane"],
      },
    },
    unique: [],
    indexes: [
      ["jobs", ["kind", "lane", "due_at"]],
      ["jobs", ["kind", "leased_until"]],
      ["dispute_attachments", ["tenant_id", "file_size"], "file_key"],
      ["document_attachments", ["tenant_id", "file_size"]],
      ["run_chunks", ["tenant_id", "file_size"]],
    ],
  });
