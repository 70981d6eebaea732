import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** The audit keys that rotations of the master key have replaced. */
export const auditKeys = (types: Types): Migration =>
  addition(types, {
    tables: {
      audit_keys: {
        columns: { id: "text", sealed: "text", retired_at: "integer" },
        key: ["id"],
      },
    },
    unique: [],
    indexes: [],
  });
