import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Adds the OAuth clients of tenants: programs that call without a person. */
export const clients = (types: Types): Migration =>
  addition(types, {
    tables: {
      clients: {
        columns: {
          id: "text",
          tenant_id: "text",
          name: "text",
          role_id: "text",
          jwks: "text?",
          secret_hash: "text?",
          version: "integer",
          created_at: "integer",
          updated_at: "integer",
        },
        key: ["id"],
      },
    },
    unique: [],
    indexes: [["clients", ["tenant_id"]]],
  });
