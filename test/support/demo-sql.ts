import { DatabaseSync } from "node:sqlite";
import { DISPUTE_STATUSES } from "../../src/contract/insights/dispute-filters.ts";
import { DAY } from "../../src/kit/clock.ts";
import type { DemoRows } from "./demo.ts";

type Value = string | number | null;

const dayOf = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString().slice(0, 10);

const toValue = (value: unknown): Value =>
  typeof value === "boolean" ? Number(value) : ((value ?? null) as Value);

/** Creates a table with the columns of all rows. */
const addTable = (database: DatabaseSync, name: string, rows: readonly object[]): void => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const list = columns.map((column) => `"${column}"`).join(", ");
  database.exec(`create table ${name} (${list})`);
  const insert = database.prepare(
    `insert into ${name} values (${columns.map(() => "?").join(", ")})`,
  );
  for (const row of rows) {
    insert.run(...columns.map((column) => toValue((row as Record<string, unknown>)[column])));
  }
};

const cents = (amount: unknown): number => Math.round(Number(amount) * 100);

/** Indexes rows by one of their members. */
const by = <T>(rows: readonly T[], name: keyof T): Map<unknown, T> =>
  new Map(rows.map((row) => [row[name], row]));

/** Returns the name in an address: `Luis Ortega` of `luis.ortega@…`. */
const toName = (email = ""): string =>
  email
    .replace(/@.*$/, "")
    .replaceAll(/(?:^|\.)./g, (part) => part.replace(".", " ").toUpperCase());

const toDisputes = (demo: DemoRows, topOf: (account: string) => string, now: number) => {
  const [reasons, categories] = [by(demo.reasons, "id"), by(demo.categories, "id")];
  const [assignees, resolutions] = [by(demo.assignees, "id"), by(demo.resolutions, "id")];
  const users = new Map([...demo.users].map(([email, id]) => [id, email]));
  const nameOf = (person?: { first_name: string | null; last_name: string | null }) =>
    person === undefined ? null : `${person.first_name} ${person.last_name}`;
  return demo.disputes.map((row) => {
    const reason = reasons.get(row.reason_id);
    const status = DISPUTE_STATUSES[row.status];
    const [created, updated] = [dayOf(row.created_at), dayOf(row.updated_at)];
    return {
      code: row.code,
      document: row.document_number,
      account: row.account_number,
      top: topOf(row.account_number),
      cents: cents(row.amount),
      currency: row.currency_code,
      status,
      reason: reason?.description,
      category: categories.get(reason?.category_id)?.description,
      assignee: nameOf(assignees.get(row.assignee_id)),
      resolution: resolutions.get(row.resolution_id)?.code,
      closer: toName(users.get(row.updated_by)),
      created,
      updated,
      closed: status === "Closed" ? dayOf(row.closed_at) : null,
      ended: dayOf(row.closed_at) ?? (status === "Open" ? null : updated),
      age: Math.floor(now / DAY) - Math.floor(row.created_at / DAY),
    };
  });
};

const toDocuments = (demo: DemoRows, topOf: (account: string) => string, now: number) => {
  const names = by(demo.accounts, "account_number");
  const closures = by(demo.document_closures, "document_number");
  return demo.documents.map((row) => {
    const fields = JSON.parse(row.fields) as Record<string, unknown>;
    const closure = row.status === "closed" ? closures.get(row.document_number) : undefined;
    const due = fields["due_date"] as string;
    return {
      number: row.document_number,
      account: row.account_number,
      name: names.get(row.account_number)?.name,
      top: topOf(row.account_number),
      type: fields["document_type"],
      status: row.status,
      currency: fields["currency"],
      original: cents(fields["original_denomination"]),
      balance: cents(fields["denomination"]),
      po: fields["po_number"],
      invoiced: fields["invoice_date"],
      due,
      late: Math.floor(now / DAY) - Date.parse(due) / DAY,
      closed: dayOf(closure?.closed_at ?? null),
      closing: closure?.closure_reason,
    };
  });
};

/** Opens a database with the demo tenant's rows in few columns: amounts in cents, days as text of UTC. */
export const openDemoSql = (demo: DemoRows, now: number): DatabaseSync => {
  const database = new DatabaseSync(":memory:");
  const parents = new Map(
    demo.accounts.map((row) => [row.account_number, row.parent_account_number]),
  );
  const topOf = (account: string): string => parents.get(account) ?? account;
  addTable(database, "disputes", toDisputes(demo, topOf, now));
  addTable(database, "documents", toDocuments(demo, topOf, now));
  const accounts = [...parents.keys()].map((number) => ({ number, top: topOf(number) }));
  addTable(database, "accounts", accounts);
  const codes = by(demo.disputes, "id");
  const notes = demo.dispute_notes.map(({ dispute_id, created_at }) => ({
    code: codes.get(dispute_id)?.code,
    created: dayOf(created_at),
  }));
  addTable(database, "notes", notes);
  addTable(database, "cashapp", demo.payments.cashapp);
  addTable(database, "iandp", demo.payments.iandp);
  addTable(database, "bpn", demo.payments.bpn);
  return database;
};
