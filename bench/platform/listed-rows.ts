import { insertAll } from "../../src/platform/store/engine/bulk-writes.ts";
import {
  toAccountColumns,
  toDocumentColumns,
  toDocumentKeys,
} from "../../src/platform/store/queries/listed-columns.ts";
import type { Db, Store } from "../../src/platform/store/port.ts";
import type {
  DocumentBalanceRow,
  DocumentRow,
  Tables,
} from "../../src/platform/store/tables/schema.ts";

const AT_ONCE = 5000;
const PER_ACCOUNT = 10;
const DAYS = 1000;
const TRACKED = {
  created_by: "bench",
  created_at: 0,
  updated_by: "bench",
  updated_at: 0,
  version: 1,
};

const pad = (number: number): string => String(number).padStart(7, "0");

const day = (number: number): string =>
  new Date(Date.UTC(2024, 0, 1 + (number % DAYS))).toISOString().slice(0, 10);

const accountOf = (tenantId: string, number: number) => {
  const accountNumber = `account-${pad(number)}`;
  const fields = { name: `Customer ${number * 7} Ltd`, currency: "USD" };
  return {
    tenant_id: tenantId,
    account_number: accountNumber,
    csr_id: number,
    ...fields,
    parent_account_number: null,
    ...toAccountColumns(accountNumber, fields),
    fields: JSON.stringify(fields),
    ...TRACKED,
  };
};

const DAY_MS = 86_400_000;
const PAID_AFTER_DAYS = 30;

/** One in ten is open, one in twenty is a credit note. All others were closed after a month. */
const documentOf = (tenantId: string, number: number): DocumentRow => {
  const documentNumber = `document-${pad(number)}`;
  const accountNumber = `account-${pad(Math.floor(number / PER_ACCOUNT))}`;
  const isOpen = number % 10 === 0;
  const issued = Date.parse(day(number * 7919));
  const fields = {
    account_number: accountNumber,
    document_type: number % 20 === 7 ? ("credit_note" as const) : ("invoice" as const),
    invoice_date: day(number * 7919),
    due_date: day(number * 7919 + 30),
    currency: "USD",
    original_denomination: amountOf(number),
    denomination: isOpen ? amountOf(number) : 0,
    invoice_num: `bill ${number * 7} made`,
  };
  return {
    tenant_id: tenantId,
    document_number: documentNumber,
    csr_id: number,
    account_number: accountNumber,
    invoice_num: fields.invoice_num,
    currency: fields.currency,
    status: isOpen ? ("open" as const) : ("closed" as const),
    ...toDocumentColumns(documentNumber, fields),
    ...toDocumentKeys(documentNumber, fields),
    balance_at: null,
    balance_known_from: issued,
    balance_recorded_at: isOpen ? issued : issued + PAID_AFTER_DAYS * DAY_MS,
    former_at: isOpen ? null : issued,
    former_status: isOpen ? null : ("open" as const),
    former_balance: isOpen ? null : fields.original_denomination,
    former_currency: isOpen ? null : fields.currency,
    fields: JSON.stringify(fields),
    ...TRACKED,
  };
};

const amountOf = (number: number): number => ((number % 90_000) + 100) / 100;

/** The balance of a document when it was issued, and when it was closed. */
const balancesOf = (row: DocumentRow): DocumentBalanceRow[] => {
  const common = {
    tenant_id: row.tenant_id,
    document_number: row.document_number,
    currency: row.balance_currency,
  };
  const issued = {
    ...common,
    version: 0,
    recorded_at: row.balance_known_from ?? 0,
    status: "open" as const,
    balance: row.original_amount,
    cause: "created" as const,
  };
  if (row.status === "open") return [issued];
  const recorded_at = row.balance_recorded_at ?? 0;
  const closed = { ...common, version: 1, recorded_at, balance: 0 };
  return [issued, { ...closed, status: "closed", cause: "closed" }];
};

const createFill =
  <T extends "accounts" | "documents">(
    table: T,
    create: (tenantId: string, number: number) => Tables[T],
    follow: (tx: Db, rows: readonly Tables[T][]) => Promise<void> = async () => {},
  ) =>
  async (store: Store, tenantId: string, count: number): Promise<void> => {
    for (let from = 0; from < count; from += AT_ONCE) {
      const size = Math.min(AT_ONCE, count - from);
      const rows = Array.from({ length: size }, (_, index) => create(tenantId, from + index));
      await store.transaction(async (tx) => {
        await insertAll(tx, table, rows);
        await follow(tx, rows);
      }, tenantId);
    }
  };

/** Gives a tenant so many accounts named `Customer <multiple of 7> Ltd`. */
export const fillAccounts = createFill("accounts", accountOf);

/** Gives a tenant so many documents, with their balances and the invoice numbers `bill <multiple of 7> made`. */
export const fillDocuments = createFill("documents", documentOf, (tx, rows) =>
  insertAll(tx, "document_balances", rows.flatMap(balancesOf)),
);
