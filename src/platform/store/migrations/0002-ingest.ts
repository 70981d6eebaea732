import type { Migration } from "kysely/migration";
import { addition, type Tables, TRACKED, type Types } from "./addition.ts";

const ACCOUNT_TABLES: Tables = {
  accounts: {
    columns: {
      tenant_id: "text",
      account_number: "text",
      csr_id: "integer",
      name: "text",
      currency: "text?",
      parent_account_number: "text?",
      fields: "text",
      ...TRACKED,
    },
    key: ["tenant_id", "account_number"],
  },
  account_notes: {
    columns: {
      tenant_id: "text",
      reference: "text",
      account_number: "text",
      body: "text",
      subject: "text?",
      note_type: "text?",
      effective_date: "text",
      effective_at: "integer",
      created_by: "text",
      created_at: "integer",
    },
    key: ["tenant_id", "reference"],
  },
  csr_sequences: {
    columns: { tenant_id: "text", noun: "text", last: "integer" },
    key: ["tenant_id", "noun"],
  },
};

const DOCUMENT_TABLES: Tables = {
  documents: {
    columns: {
      tenant_id: "text",
      document_number: "text",
      csr_id: "integer",
      account_number: "text",
      currency: "text?",
      status: "text",
      fields: "text",
      ...TRACKED,
    },
    key: ["tenant_id", "document_number"],
  },
  document_closures: {
    columns: {
      tenant_id: "text",
      document_number: "text",
      number: "integer",
      closure_reason: "text?",
      source: "text",
      closed_at: "integer",
      notes: "text?",
      created_by: "text",
      created_at: "integer",
    },
    key: ["tenant_id", "document_number", "number"],
  },
  document_attachments: {
    columns: {
      tenant_id: "text",
      id: "text",
      document_number: "text",
      file_key: "text",
      file_size: "integer",
      sha256: "text",
      uploaded_by: "text",
      uploaded_at: "integer",
    },
    key: ["tenant_id", "id"],
  },
};

/** Creates accounts, documents, and their notes, closures and attachments. */
export const ingest = (types: Types): Migration =>
  addition(types, {
    tables: { ...ACCOUNT_TABLES, ...DOCUMENT_TABLES },
    unique: [],
    indexes: [
      ["account_notes", ["tenant_id", "account_number", "effective_at"]],
      ["documents", ["tenant_id", "account_number"]],
      ["document_attachments", ["tenant_id", "document_number", "uploaded_at"]],
      ["document_attachments", ["tenant_id", "file_key"]],
    ],
  });
