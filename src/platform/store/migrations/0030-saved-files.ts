import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Adds the files of tables that people saved. */
export const savedFiles = (types: Types): Migration =>
  addition(types, {
    tables: {
      saved_files: {
        columns: {
          tenant_id: "text",
          owner: "text",
          name: "text",
          file_key: "text",
          file_size: "integer",
          expires_at: "integer",
        },
        key: ["tenant_id", "owner", "name"],
      },
    },
    unique: [],
    indexes: [["saved_files", ["expires_at"]]],
  });
