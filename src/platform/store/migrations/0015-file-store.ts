import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** The id of the file store that the database's files are in. */
export const fileStore = (types: Types): Migration =>
  addition(types, {
    tables: {
      file_stores: {
        columns: { name: "text", id: "text", is_written: "integer" },
        key: ["name"],
      },
    },
    unique: [],
    indexes: [],
  });
