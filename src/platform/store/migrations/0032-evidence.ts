import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Heads of audit chains that others can check, and the keys that sign them. */
export const evidence = (types: Types): Migration =>
  addition(types, {
    tables: {
      evidence_heads: {
        columns: {
          tenant_id: "text",
          seq: "integer",
          link: "text",
          at: "integer",
          key_id: "text",
          signature: "text",
        },
        key: ["tenant_id", "seq"],
      },
      evidence_keys: {
        columns: {
          number: "integer",
          id: "text",
          public_key: "text",
          sealed: "text",
          created_at: "integer",
          signed_by_former: "text",
          signs_former: "text",
        },
        key: ["number"],
      },
    },
    unique: [],
    indexes: [],
  });
