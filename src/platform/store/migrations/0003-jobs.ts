import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Work that is due at a moment, whoever then lives to do it. */
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
