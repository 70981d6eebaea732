import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type CompiledQuery, Kysely, type LogEvent, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillAccounts, fillDocuments } from "../../bench/platform/listed-rows.ts";
import { fillPayments } from "../../bench/platform/payment-rows.ts";
import { utcCalendar } from "../../src/contract/insights/calendar.ts";
import { parseDisputeSummary } from "../../src/contract/insights/dispute-summary.ts";
import { parseDocumentSummary } from "../../src/contract/insights/document-summary.ts";
import { parsePaymentSummary } from "../../src/contract/insights/payment-summary.ts";
import {
  findAccountNumbers,
  findAccountsNamed,
} from "../../src/platform/store/queries/accounts.ts";
import {
  countDisputes,
  type DisputeFilter,
  selectDisputes,
} from "../../src/platform/store/queries/disputes.ts";
import { findNamed } from "../../src/platform/store/queries/disputes-by-name.ts";
import {
  findCreditsOf,
  findDocumentsByKeys,
  findSoughtDocuments,
} from "../../src/platform/store/queries/documents.ts";
import { findDocumentPlaces } from "../../src/platform/store/queries/listed-documents.ts";
import {
  findPayerAccounts,
  hasWaiting,
  readAppliedRows,
  readDeductions,
  readPaymentRows,
  readReferencedPayments,
  readReturnsOf,
  readWaiting,
  sumApplied,
} from "../../src/platform/store/queries/payment-matching.ts";
import { findLastSeq } from "../../src/platform/store/queries/payments.ts";
import {
  selectRows,
  summarizePayments,
} from "../../src/platform/store/queries/payments/summary.ts";
import type { Db } from "../../src/platform/store/port.ts";
import { CopyingClient, createPostgresDialect } from "../../src/platform/store/postgres/dialect.ts";
import { planFewerOrders } from "../../src/platform/store/postgres/open.ts";
import { createDatabaseDialect } from "../../src/platform/store/sqlite/dialect.ts";
import { matchDisputes } from "../../src/platform/store/queries/summaries/dispute-filters.ts";
import { summarizeDisputes } from "../../src/platform/store/queries/summaries/disputes.ts";
import {
  selectDocuments,
  summarizeDocuments,
} from "../../src/platform/store/queries/summaries/documents.ts";
import type { Tables } from "../../src/platform/store/tables/schema.ts";
import { fillDisputes } from "../support/many-disputes.ts";
import { type Database, type Dialect, dialects } from "../support/stores.ts";
import { type Access, readAccesses } from "../support/accesses.ts";
import { verifies } from "../support/verifies.ts";
import { createTestPool } from "../support/postgres.ts";

const TENANT = "asking";
const ROWS = 1000;
const OTHERS = 4000;
const PAGE = 20;
const NOW = Date.UTC(2026, 10, 20);
const DAY = 86_400_000;

type Act = (db: Db) => Promise<unknown>;
/** What is read, how, the columns by which its rows are found, and how many rows of a table are read at most. */
type Case = [name: string, act: Act, columns: string, most: number];

const accounts =
  (filter: Parameters<typeof findAccountNumbers>[2], after?: string): Act =>
  (db) =>
    findAccountNumbers(db, TENANT, filter, { after, most: PAGE });

type Listed = Parameters<typeof findDocumentPlaces>[2];
type Place = Parameters<typeof findDocumentPlaces>[3]["after"];

const documents =
  (filter: Listed["filter"], sort: Listed["sort"] = "document_number", after?: Place): Act =>
  (db) =>
    findDocumentPlaces(db, TENANT, { filter, sort }, { after, most: PAGE });

const disputes =
  (filter: DisputeFilter): Act =>
  async (db) => {
    await countDisputes(db, TENANT, filter);
    await selectDisputes(db, TENANT, filter).limit(PAGE).offset(0).execute();
  };

const given = <T>({ value, faults }: { value?: T; faults?: unknown }): NonNullable<T> => {
  if (value === undefined || value === null) throw new Error(JSON.stringify(faults));
  return value;
};

const IN_UTC = [{ at: 0, offset: 0 }];

const paymentsSummary =
  (body: object): Act =>
  async (db) => {
    const summary = given(parsePaymentSummary({ source: "cashapp", ...body }));
    const where = await selectRows(db, TENANT, summary, await findLastSeq(db, TENANT, "cashapp"));
    await summarizePayments({ db, tenantId: TENANT }, where, summary, {
      measures: summary.measures,
      offsets: IN_UTC,
    });
  };

const disputesSummary =
  (body: object): Act =>
  async (db) => {
    const summary = given(parseDisputeSummary(body));
    const isPast = summary.filters.asOf !== undefined;
    const ended = new Map([["dispute-1", { status: 1, closedAt: NOW }]]);
    const days = { calendar: utcCalendar, offsets: IN_UTC };
    const asked = { tenantId: TENANT, asOf: NOW, isPast, ended, ...days };
    const where = await matchDisputes(db, summary.filters, asked);
    await summarizeDisputes({ db, period: asked, summary }, where, { limit: PAGE, offset: 0 });
  };

const documentsSummary =
  (body: object): Act =>
  async (db) => {
    const summary = given(parseDocumentSummary(body));
    const days = { asOf: NOW, calendar: utcCalendar };
    const context = { db, tenantId: TENANT, currency: "USD", ...days, summary };
    await summarizeDocuments(context, await selectDocuments(context), { limit: PAGE, offset: 0 });
  };

const A_DAY = { dueFrom: "2024-06-01", dueTo: "2024-06-01" };
const DEEP = { key: "document-0000900", value: "document-0000900" };
const DEEP_DAY = { key: "document-0000500", value: "2025-06-01" };
const CREATED = { createdFrom: NOW - 3 * DAY, createdTo: NOW };
const FEW = 2 * PAGE;

const LISTS: Case[] = [
  ["accounts", accounts({}), "", FEW],
  ["accounts, deep", accounts({}, "account-0000900"), "account_number", FEW],
  ["accounts of a group", accounts({ group: "g" }), "account_group", FEW],
  ["accounts below one", accounts({ parentNumber: "p" }), "parent_account_number", FEW],
  ["accounts with a rare text", accounts({ search: "omer 700 " }), "account_number", ROWS],
  ["accounts with a common text", accounts({ search: "customer" }), "", ROWS],
  ["documents", documents({}), "", FEW],
  ["documents, deep", documents({}, "document_number", DEEP), "document_number", FEW],
  ["documents by due date", documents({}, "due_date"), "", FEW],
  ["documents by due date, deep", documents({}, "-due_date", DEEP_DAY), "due_on", FEW],
  ["documents by invoice date", documents({}, "-invoice_date"), "", FEW],
  ["documents by invoice date, deep", documents({}, "invoice_date", DEEP_DAY), "invoice_on", FEW],
  [
    "documents of an account",
    documents({ accountNumber: "account-0000050" }),
    "account_number",
    FEW,
  ],
  [
    "open documents of an account by due date",
    documents({ accountNumber: "account-0000050", status: "open" }, "due_date"),
    "account_number",
    FEW,
  ],
  ["open documents", documents({ status: "open" }), "status", FEW],
  ["open documents, deep", documents({ status: "open" }, "document_number", DEEP), "status", FEW],
  ["open documents by due date", documents({ status: "open" }, "due_date"), "status", FEW],
  [
    "open ones by due date, deep",
    documents({ status: "open" }, "due_date", DEEP_DAY),
    "status",
    FEW,
  ],
  ["open documents by invoice date", documents({ status: "open" }, "-invoice_date"), "status", FEW],
  [
    "overdue documents",
    documents({ status: "open", dueTo: "2024-06-01" }, "due_date"),
    "due_on",
    FEW,
  ],
  ["documents of a type", documents({ type: "other" }), "document_type", FEW],
  ["documents due on a day", documents(A_DAY, "due_date"), "due_on", FEW],
  ["documents due on a day by number", documents(A_DAY), "due_on", FEW],
  [
    "documents of a day by number",
    documents({ invoiceFrom: "2024-06-01", invoiceTo: "2024-06-01" }),
    "invoice_on",
    FEW,
  ],
  ["documents with a rare text", documents({ search: "ill 700 " }), "document_number", ROWS],
  ["documents with a common text", documents({ search: "bill" }), "", ROWS],
  ["disputes", disputes({}), "", FEW],
  ["a dispute by its code", disputes({ code: "D-500-01" }), "code", FEW],
  ["disputes of an amount", disputes({ amountMin: 100, amountMax: 101 }), "amount_order", FEW],
  ["disputes created on some days", disputes(CREATED), "created_at", ROWS],
  [
    "disputes closed on some days",
    disputes({ closedFrom: NOW - DAY, closedTo: NOW }),
    "closed_at",
    ROWS,
  ],
  ["disputes in a currency", disputes({ currencyCode: "EUR" }), "currency_code", FEW],
  ["unassigned disputes", disputes({ unassigned: true }), "assignee_id", ROWS],
  [
    "disputes of a customer's name",
    async (db) => disputes({ accountName: await findNamed(db, TENANT, "customer 700 ") })(db),
    "",
    ROWS,
  ],
];

const SUMMARIES: Case[] = [
  ["payments by month", paymentsSummary({ groupBy: ["paymentDate:month"] }), "seq", ROWS],
  [
    "payments of a day",
    paymentsSummary({ filters: { paymentDate: { eq: "2026-02-01" } }, groupBy: ["payerName"] }),
    "payment_date",
    FEW,
  ],
  [
    "payments of an account",
    paymentsSummary({ filters: { accountNumber: { eq: "account-5" } } }),
    "account_number_folded",
    FEW,
  ],
  ["payments of a payer", paymentsSummary({ filters: { payerName: { eq: "a" } } }), "seq", ROWS],
  ["disputes by account", disputesSummary({ groupBy: ["account"] }), "", ROWS],
  ["open disputes by age", disputesSummary({ status: "Open", groupBy: ["age"] }), "status", ROWS],
  [
    "old open disputes",
    disputesSummary({ status: "Open", olderThanDays: 1000 }),
    "created_at",
    FEW,
  ],
  [
    "disputes of an account",
    disputesSummary({ accountNumber: "ACCOUNT-5" }),
    "account_number",
    FEW,
  ],
  ["disputes of a document", disputesSummary({ documentNumber: "500" }), "document_number", FEW],
  ["a dispute", disputesSummary({ disputeCode: "d-500-01" }), "code", FEW],
  ["unassigned disputes", disputesSummary({ unassigned: true }), "assignee_id", ROWS],
  ["disputes of an assignee", disputesSummary({ assignee: "ada 5" }), "assignee_id", ROWS],
  ["disputes of some days", disputesSummary({ createdFrom: "2026-11-18" }), "created_at", ROWS],
  ["disputes closed on a day", disputesSummary({ closedFrom: "2026-11-19" }), "closed_at", ROWS],
  ["documents by age", documentsSummary({ groupBy: ["age"] }), "status", ROWS],
  [
    "overdue documents by account",
    documentsSummary({ dueTo: "2024-06-01", groupBy: ["account"] }),
    "due_on",
    ROWS,
  ],
  [
    "documents of an account",
    documentsSummary({ accountNumber: "ACCOUNT-0000050" }),
    "account_number",
    FEW,
  ],
];

const MATCHES: Case[] = [
  [
    "documents by their keys",
    (db) => findDocumentsByKeys(db, TENANT, { keys: ["BILL7MADE"], numbers: ["bill 7 made"] }),
    "number_key",
    FEW,
  ],
  [
    "documents of a purchase order",
    (db) => findSoughtDocuments(db, TENANT, { keys: ["1"], numbers: ["1"] }, 50),
    "po_key",
    FEW,
  ],
  ["credits of an invoice", (db) => findCreditsOf(db, TENANT, ["1"]), "applies_to_key", FEW],
  ["accounts of a name", (db) => findAccountsNamed(db, TENANT, ["a"]), "name_folded", FEW],
  ["accounts of payers", (db) => findPayerAccounts(db, TENANT, ["a|1"]), "<expr>", FEW],
  [
    "rows of payments",
    (db) => readPaymentRows(db, TENANT, ["payment-5", "payment-6"]),
    "payment_id_folded",
    FEW,
  ],
  ["returns of a payment", (db) => readReturnsOf(db, TENANT, ["1"]), "returned_payment_id", FEW],
  [
    "payments of a reference",
    (db) => readReferencedPayments(db, TENANT, ["1"]),
    "payment_reference_folded",
    FEW,
  ],
  ["waiting rows", (db) => readWaiting(db, TENANT, ["1"], { most: PAGE }), "waiting_key", FEW],
  ["whether a row waits", (db) => hasWaiting(db, TENANT, ["1"]), "waiting_key", FEW],
  [
    "sums of documents",
    (db) => sumApplied(db, TENANT, ["document-0000005"], ["payment-5"]),
    "document_number_folded",
    FEW,
  ],
  [
    "payments of documents",
    (db) => readAppliedRows(db, TENANT, ["document-0000005"]),
    "document_number_folded",
    FEW,
  ],
  [
    "deductions of documents",
    (db) => readDeductions(db, TENANT, ["document-0000005"]),
    "document_number_folded",
    FEW,
  ],
];

const openLogged = ({ environment }: Database, log: (event: LogEvent) => void): Db => {
  const { DATABASE_URL: url, RECEIVABLES_DATA: folder = "" } = environment;
  const dialect =
    url === undefined
      ? createDatabaseDialect(new DatabaseSync(join(folder, "receivables.db")), {
          exclusive: false,
          retryMs: 0,
        })
      : createPostgresDialect(
          createTestPool({
            Client: CopyingClient,
            connectionString: url,
            onConnect: planFewerOrders,
          }),
        );
  return new Kysely<Tables>({ dialect, log });
};

const fill = async (one: Dialect): Promise<Database> => {
  const database = await one.createMigrated();
  const store = await database.open();
  for (const [tenantId, rows] of [
    ["other", OTHERS],
    [TENANT, ROWS],
  ] as const) {
    await fillAccounts(store, tenantId, rows);
    await fillDocuments(store, tenantId, rows);
    await fillDisputes(store, tenantId, rows, NOW);
    await fillPayments(store, tenantId, rows);
  }
  // As PostgreSQL does it: tables with few rows are never analyzed.
  if (one.name === "postgres") {
    await sql`analyze accounts, documents, disputes, cashapp_payments`.execute(store.read);
  }
  await store.close();
  return database;
};

describe.each(dialects)("plans of lists and summaries ($name)", (one) => {
  let database: Database;
  let db: Db;
  let seen: CompiledQuery[] = [];

  beforeAll(async () => {
    database = await fill(one);
    db = openLogged(database, ({ query }) => seen.push(query));
  });

  afterAll(async () => {
    await db.destroy();
    await database.remove();
  });

  const readAll = async (act: Act): Promise<Access[]> => {
    seen = [];
    await act(db);
    const accesses: Access[] = [];
    const asked = seen;
    seen = [];
    for (const query of asked) accesses.push(...(await readAccesses(db, one.name, query)));
    return accesses;
  };

  verifies("IN-74");
  it.each([...LISTS, ...SUMMARIES, ...MATCHES])(
    "finds %s by an index",
    async (_name, act, column, most) => {
      const accesses = await readAll(act);
      expect(accesses.length).toBeGreaterThan(0);
      expect(accesses.filter(({ columns }) => !columns.includes("tenant_id"))).toEqual([]);
      expect(accesses.filter(({ rows }) => rows > most)).toEqual([]);
      const isFound = accesses.some(({ columns }) => columns.includes(column));
      expect(isFound || column === "" || one.name === "postgres", JSON.stringify(accesses)).toBe(
        true,
      );
    },
  );

  it.runIf(one.name === "sqlite")("knows the size of every index of a large table", async () => {
    const { rows } = await sql<{ name: string }>`select i.name from sqlite_master as i
      where i.type = 'index' and i.tbl_name in (select tbl from sqlite_stat1)
      and i.name not in (select idx from sqlite_stat1)
      and i.tbl_name <> 'kysely_migration'`.execute(db);
    expect(rows).toEqual([]);
  });
});
