import type { Migration } from "kysely/migration";
import { addition, type Tables, type Types } from "./addition.ts";

const TABLES: Tables = {
  imports: {
    columns: {
      tenant_id: "text",
      id: "text",
      kind: "text",
      file: "text",
      status: "text",
      started_at: "integer",
      ended_at: "integer?",
      report: "text",
      actor: "text",
    },
    key: ["tenant_id", "id"],
  },
  import_changes: {
    columns: {
      tenant_id: "text",
      import_id: "text",
      number: "integer",
      table_name: "text",
      record_key: "text",
      before: "text?",
      after: "text",
    },
    key: ["tenant_id", "import_id", "number"],
  },
  payment_entries: {
    columns: {
      tenant_id: "text",
      id: "text",
      import_id: "text",
      kind: "text",
      message: "text",
      account: "text?",
      amount: "text",
      currency: "text",
      day: "text",
      bank_reference: "text?",
      reference_list: "text",
      words: "text",
      payment_ids: "text",
      detail: "integer",
      joined_to: "text?",
      doubt_of: "text?",
      doubt_payment_id: "text?",
      doubt: "text?",
      waits: "integer?",
    },
    key: ["tenant_id", "id"],
  },
};

/** Adds what imports did, so that they can be listed and taken back, and the entries that payments come from. */
export const imports = (types: Types): Migration =>
  addition(types, {
    tables: TABLES,
    unique: [],
    indexes: [
      ["payment_entries", ["tenant_id", "currency", "amount", "day"]],
      ["payment_entries", ["tenant_id", "bank_reference"], "bank_reference"],
      ["payment_entries", ["tenant_id", "doubt"], "doubt"],
      ["payment_entries", ["tenant_id", "import_id"]],
      ["payment_entries", ["tenant_id", "waits"], "waits"],
    ],
  });
