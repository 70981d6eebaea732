import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Creates schedules, their runs, and the chunks of the runs' rows. */
export const schedules = (types: Types): Migration =>
  addition(types, {
    tables: {
      schedules: {
        columns: {
          tenant_id: "text",
          id: "text",
          name: "text?",
          interval_ms: "integer",
          source: "text",
          fields: "text",
          filters: "text",
          next_run_at: "integer",
          created_by: "text",
          created_at: "integer",
          updated_at: "integer",
          deleted_at: "integer?",
        },
        key: ["tenant_id", "id"],
      },
      export_runs: {
        columns: {
          tenant_id: "text",
          id: "text",
          schedule_id: "text",
          slot_at: "integer",
          status: "text",
          created_at: "integer",
          started_at: "integer?",
          completed_at: "integer?",
          row_count: "integer",
          error_stage: "text?",
          error_detail: "text?",
          purged_at: "integer?",
        },
        key: ["tenant_id", "id"],
      },
      run_chunks: {
        columns: {
          tenant_id: "text",
          run_id: "text",
          number: "integer",
          first_row: "integer",
          row_count: "integer",
          file_key: "text",
          file_size: "integer",
          sha256: "text",
        },
        key: ["tenant_id", "run_id", "number"],
      },
    },
    unique: [["export_runs", ["tenant_id", "schedule_id", "slot_at"]]],
    indexes: [
      ["export_runs", ["tenant_id", "completed_at"]],
      ["run_chunks", ["tenant_id", "file_key"]],
    ],
  });
