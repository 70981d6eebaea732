import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Creates the table of jobs. */
export const jobs = (types: Types): Migration =>
  addition(types, {
    tables: {
      jobs: {
        columns: {
          kind: "text",
          id: "text",
          tenant_id: "text",
          lane: "text",
          due_at: "integer",
          tries: "integer",
          lease: "text?",
          leased_until: "integer",
        },
        key: ["kind", "id"],
      },
    },
    unique: [],
    indexes: [["jobs", ["kind", "due_at"]]],
  });
