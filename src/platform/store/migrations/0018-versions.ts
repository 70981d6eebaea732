import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** The versions of the program that have opened the store, so that an older one can name them. */
export const versions = (types: Types): Migration =>
  addition(types, {
    tables: {
      program_versions: { columns: { version: "text", opened_at: "integer" }, key: ["version"] },
    },
    unique: [],
    indexes: [],
  });
