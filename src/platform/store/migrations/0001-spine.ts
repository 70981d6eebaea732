import { type ColumnDataType, type CreateTableBuilder, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { RawBuilder } from "kysely";

/** What a column type is called where the two databases differ. */
export type Types = {
  /** Ordered by code point. */
  text: ColumnDataType | RawBuilder<unknown>;
  integer: ColumnDataType;
  double: ColumnDataType | RawBuilder<unknown>;
};

type Column = keyof Types;
type Columns = Record<string, Column | `${Column}?`>;

const TRACKED = {
  created_by: "text",
  created_at: "integer",
  updated_by: "text",
  updated_at: "integer",
  version: "integer",
} as const satisfies Columns;

const CODED = {
  tenant_id: "text",
  id: "text",
  code: "text",
  code_folded: "text",
  description: "text",
} as const satisfies Columns;

const TABLES: Record<string, { columns: Columns; key: string[] }> = {
  tenants: {
    columns: {
      id: "text",
      name: "text",
      currency_model: "text",
      currency: "text",
      connection_id: "text",
      settings: "text",
      is_partner: "integer",
      test_tenant_id: "text?",
      created_at: "integer",
    },
    key: ["id"],
  },
  roles: {
    columns: { tenant_id: "text", id: "text", name: "text", grants: "text" },
    key: ["tenant_id", "id"],
  },
  users: {
    columns: {
      id: "text",
      email: "text",
      email_folded: "text",
      password_hash: "text?",
      first_name: "text",
      last_name: "text",
      default_language: "text",
      time_zone: "text",
      default_tenant_id: "text?",
      last_login_at: "integer?",
      last_login_method: "text?",
      created_at: "integer",
    },
    key: ["id"],
  },
  memberships: {
    columns: {
      tenant_id: "text",
      user_id: "text",
      status: "text",
      profile: "text",
      added_at: "integer",
    },
    key: ["tenant_id", "user_id"],
  },
  membership_roles: {
    columns: { tenant_id: "text", user_id: "text", role_id: "text" },
    key: ["tenant_id", "user_id", "role_id"],
  },
  sessions: {
    columns: {
      id: "text",
      token_hash: "text",
      user_id: "text",
      created_at: "integer",
      verified_at: "integer",
      used_at: "integer",
    },
    key: ["id"],
  },
  api_keys: {
    columns: {
      id: "text",
      hash: "text",
      prefix: "text",
      user_id: "text",
      tenant_id: "text",
      created_at: "integer",
      used_at: "integer",
    },
    key: ["id"],
  },
  export_keys: {
    columns: {
      id: "text",
      hash: "text",
      prefix: "text",
      tenant_id: "text",
      name: "text",
      scopes: "text",
      created_at: "integer",
    },
    key: ["id"],
  },
  counters: {
    columns: { key: "text", count: "integer", window_ends_at: "integer" },
    key: ["key"],
  },
  idempotency_keys: {
    columns: {
      tenant_id: "text",
      principal: "text",
      operation: "text",
      key: "text",
      request_hash: "text",
      answer: "text?",
      record_id: "text",
      expires_at: "integer",
    },
    key: ["tenant_id", "principal", "operation", "key"],
  },
  categories: {
    columns: {
      ...CODED,
      description_folded: "text",
      default_internal_reason_id: "text?",
      default_external_reason_id: "text?",
      default_assignee_id: "text?",
      ...TRACKED,
    },
    key: ["tenant_id", "id"],
  },
  reasons: {
    columns: {
      ...CODED,
      category_id: "text",
      description_folded: "text",
      active: "integer",
      visibility: "text",
      ...TRACKED,
    },
    key: ["tenant_id", "id"],
  },
  departments: {
    columns: { ...CODED, description_folded: "text", ...TRACKED },
    key: ["tenant_id", "id"],
  },
  assignees: {
    columns: {
      tenant_id: "text",
      id: "text",
      department_id: "text",
      user_id: "text?",
      email: "text",
      email_folded: "text",
      first_name: "text",
      last_name: "text",
      name_folded: "text",
      person: "text",
      active: "integer",
      all_updates: "integer",
      daily_digest: "integer",
      ...TRACKED,
    },
    key: ["tenant_id", "id"],
  },
  resolutions: {
    columns: {
      ...CODED,
      active: "integer",
      is_valid: "integer",
      apply_when_invoice_closed: "integer",
      ...TRACKED,
    },
    key: ["tenant_id", "id"],
  },
  disputes: {
    columns: {
      tenant_id: "text",
      id: "text",
      code: "text",
      document_number: "text",
      account_number: "text",
      account_name: "text?",
      amount: "text",
      amount_order: "double",
      currency_code: "text",
      reason_id: "text",
      external_reason_id: "text?",
      assignee_id: "text?",
      po_number: "text?",
      status: "integer",
      is_valid: "integer",
      resolution_id: "text?",
      closed_at: "integer?",
      origin: "text",
      source_key: "text?",
      source_row: "text?",
      ...TRACKED,
    },
    key: ["tenant_id", "id"],
  },
  dispute_sequences: {
    columns: { tenant_id: "text", document_number: "text", last: "integer" },
    key: ["tenant_id", "document_number"],
  },
  dispute_totals: {
    columns: { tenant_id: "text", status: "integer", total: "integer" },
    key: ["tenant_id", "status"],
  },
  dispute_notes: {
    columns: {
      tenant_id: "text",
      id: "text",
      dispute_id: "text",
      content: "text",
      visibility: "text",
      ...TRACKED,
    },
    key: ["tenant_id", "id"],
  },
  audit_logs: {
    columns: {
      tenant_id: "text",
      seq: "integer",
      id: "text",
      at: "integer",
      method: "text",
      endpoint: "text",
      action: "text?",
      status_code: "integer",
      metadata: "text",
      schedule_id: "text?",
      search: "text",
      prev_hash: "text",
      hash: "text",
    },
    key: ["tenant_id", "seq"],
  },
  audit_heads: {
    columns: { tenant_id: "text", seq: "integer", hash: "text" },
    key: ["tenant_id"],
  },
};

const UNIQUE: [table: string, columns: string[]][] = [
  ["users", ["email_folded"]],
  ["roles", ["tenant_id", "name"]],
  ["sessions", ["token_hash"]],
  ["api_keys", ["hash"]],
  ["export_keys", ["hash"]],
  ["categories", ["tenant_id", "code_folded"]],
  ["reasons", ["tenant_id", "category_id", "code_folded"]],
  ["departments", ["tenant_id", "code_folded"]],
  ["resolutions", ["tenant_id", "code_folded"]],
  ["assignees", ["tenant_id", "email_folded"]],
  ["disputes", ["tenant_id", "code"]],
  ["disputes", ["tenant_id", "source_key"]],
];

const INDEXES: [table: string, columns: string[]][] = [
  ["idempotency_keys", ["expires_at"]],
  ["memberships", ["user_id"]],
  ["sessions", ["user_id"]],
  ["api_keys", ["user_id"]],
  ["reasons", ["tenant_id", "code_folded"]],
  ["assignees", ["tenant_id", "department_id"]],
  ["disputes", ["tenant_id", "created_at", "id"]],
  ["disputes", ["tenant_id", "updated_at", "id"]],
  ["disputes", ["tenant_id", "status", "created_at", "id"]],
  ["disputes", ["tenant_id", "document_number", "created_at", "id"]],
  ["disputes", ["tenant_id", "account_number", "created_at", "id"]],
  ["disputes", ["tenant_id", "assignee_id", "created_at", "id"]],
  ["disputes", ["tenant_id", "amount_order", "id"]],
  ["disputes", ["tenant_id", "reason_id"]],
  ["disputes", ["tenant_id", "external_reason_id"]],
  ["disputes", ["tenant_id", "resolution_id"]],
  ["dispute_notes", ["tenant_id", "dispute_id", "created_at", "id"]],
  ["audit_logs", ["tenant_id", "at"]],
  ["audit_logs", ["tenant_id", "action", "seq"]],
];

const createTable = async (db: Kysely<unknown>, types: Types, name: string): Promise<void> => {
  const table = TABLES[name];
  if (table === undefined) return;
  let builder: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, kind] of Object.entries(table.columns)) {
    const nullable = kind.endsWith("?");
    const type = types[kind.replace("?", "") as Column];
    builder = builder.addColumn(column, type as ColumnDataType, (made) =>
      nullable ? made : made.notNull(),
    );
  }
  await builder.addPrimaryKeyConstraint(`${name}_key`, table.key).execute();
};

/** The first version of the store. */
export const spine = (types: Types): Migration => ({
  async up(db) {
    for (const name of Object.keys(TABLES)) await createTable(db, types, name);
    for (const [unique, list] of [
      [true, UNIQUE],
      [false, INDEXES],
    ] as const) {
      for (const [table, columns] of list) {
        const index = db.schema
          .createIndex(`${table}_${columns.filter((name) => name !== "tenant_id").join("_")}`)
          .on(table)
          .columns(columns);
        await (unique ? index.unique() : index).execute();
      }
    }
  },
});
