import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { insertTenant } from "../admin/tenants.ts";
import { insertUser } from "../admin/users.ts";
import type { FileStore } from "../files/port.ts";
import { announceFiles, claimFiles } from "../files/unclaimed.ts";
import { appendEntries } from "../store/audit-chain.ts";
import { insertDisputes } from "../store/disputes.ts";
import type { Db, Store } from "../store/port.ts";
import type { Tables } from "../store/tables.ts";
import { findTenant } from "../store/tenants.ts";
import { insertAll } from "../store/bulk-writes.ts";
import { buildCreditApplications } from "./credit.ts";
import { type DemoData, openDemoData, type Row } from "./data.ts";
import { buildLedger } from "./ledger.ts";
import { buildAuditEntries, insertExports } from "./past.ts";
import { insertPayments, payments } from "./payments.ts";

export const DEMO_TENANT = {
  tenantId: "demo",
  name: "Demo Manufacturing Inc.",
  currency: "USD",
} as const;

/** The user whose credentials the embedded server works with. */
export const DEMO_OWNER = {
  email: "agent@demo-manufacturing.example",
  firstName: "Demo",
  lastName: "Agent",
} as const;

export type DemoOwner = { tenantId: string; userId: string };

export type DemoNeeds = {
  store: Store;
  files: FileStore;
  clock: Clock;
  newId: NewId;
  /** Computed meanwhile; absent if the owner has no login, only the keys that `credentials` creates. */
  passwordHash?: Promise<string>;
  /** Creates the owner's keys in the same transaction. */
  credentials?: (tx: Db, owner: DemoOwner) => Promise<void>;
};

const { tenantId } = DEMO_TENANT;

/** Tables whose rows are in the data column by column, in the order of their references. */
const TABLES = [
  "departments",
  "assignees",
  "categories",
  "reasons",
  "resolutions",
  "business_units",
  "company_scores",
  "accounts",
  "account_notes",
  "document_closures",
  "csr_sequences",
  "disputes",
  "dispute_sequences",
  "dispute_notes",
] as const satisfies (keyof Tables)[];

type Table = (typeof TABLES)[number];

/** Returns the rows of a table of the data; lists and objects become JSON text, as the store has them. */
const buildRows = <T extends keyof Tables>(data: DemoData, table: T): Tables[T][] =>
  data
    .records<Row>(table)
    .map((record) => withJson({ tenant_id: tenantId, ...record }) as Tables[T]);

const withJson = (record: Row): Row => {
  const row = { ...record };
  for (const name of Object.keys(row)) {
    const value = row[name];
    if (typeof value === "object" && value !== null) row[name] = JSON.stringify(value);
  }
  return row;
};

type Login = {
  id: string;
  email: string;
  firstName: string;
  lastName: string;
  title: string;
  department: string;
  role: string;
  active: boolean;
};

const insertLogins = async (tx: Db, clock: Clock, logins: readonly Login[]): Promise<void> => {
  for (const { id, title, department, role, active, ...person } of logins) {
    await insertUser(tx, { clock, newId: () => id }, { tenantId, ...person, roles: [role] }, null);
    await tx
      .updateTable("memberships")
      .set({
        status: active ? "Active" : "Inactive",
        profile: JSON.stringify({ title, department }),
      })
      .where("tenant_id", "=", tenantId)
      .where("user_id", "=", id)
      .execute();
  }
};

/** Returns the data of all tables except users and files. Between its parts, other work of the event loop gets its turn. */
export const readDemo = async (data: DemoData) => {
  const ledger = buildLedger(data, tenantId);
  const tables: Record<string, object[]> = {};
  for (const table of TABLES) {
    // Lets requests take their turn before each table.
    await setImmediate();
    tables[table] =
      table === "accounts" ? [...ledger.accounts.values()].map(withJson) : buildRows(data, table);
  }
  await setImmediate();
  const applications = buildCreditApplications(data, tenantId);
  await setImmediate();
  const paid = payments(data, tenantId, ledger);
  await setImmediate();
  return {
    tables: tables as { [T in Table]: Tables[T][] },
    ledger,
    applications,
    payments: paid,
    exports: {
      schedules: buildRows(data, "schedules"),
      runs: buildRows(data, "export_runs"),
    },
    auditEntries: buildAuditEntries(data, tenantId),
  };
};

export type Demo = Awaited<ReturnType<typeof readDemo>>;

/** Inserts the rows of the data; the tenant and its users must exist. */
export const insertRows = async (tx: Db, demo: Demo): Promise<void> => {
  for (const table of TABLES) {
    const rows = demo.tables[table];
    if (table === "disputes") await insertDisputes(tx, demo.tables.disputes);
    else await insertAll(tx, table, rows as never[]);
  }
  await insertAll(tx, "credit_applications", demo.applications);
  await insertAll(tx, "documents", [...demo.ledger.documents.values()].map(withJson) as never[]);
  await insertPayments(tx, tenantId, demo.payments);
};

/** Stores the files of attachments, before the transaction that inserts their records. */
const storeFiles = (
  files: FileStore,
  data: DemoData,
  table: "document_attachments" | "dispute_attachments",
  connectionId: string,
): Promise<Row[]> =>
  Promise.all(
    buildRows(data, table).map(async (row) => {
      const { file, ...record } = row as typeof row & { file: string };
      const file_key = `${connectionId}/${row.id}`;
      const bytes = data.file(file);
      const { size, sha256 } = await files.put(file_key, [bytes], bytes.byteLength);
      return { ...record, file_key, file_size: size, sha256 };
    }),
  );

/** Loads the demo tenant in one transaction; returns false, and changes nothing, if it exists. */
export const loadDemo = async (needs: DemoNeeds): Promise<boolean> => {
  const { store, files, clock, newId } = needs;
  if ((await findTenant(store.read, tenantId)) !== undefined) return false;
  const data = openDemoData(clock());
  const connectionId = newId();
  await announceFiles(needs, { tenantId, connectionId });
  const [ofDocuments, ofDisputes, demo] = await Promise.all([
    storeFiles(files, data, "document_attachments", connectionId),
    storeFiles(files, data, "dispute_attachments", connectionId),
    readDemo(data),
  ]);
  const passwordHash = (await needs.passwordHash) ?? null;
  return store.transaction(async (tx) => {
    // Another process may have been faster.
    if ((await findTenant(tx, tenantId)) !== undefined) return false;
    await insertTenant(tx, { store, clock, newId: () => connectionId }, DEMO_TENANT);
    await claimFiles(tx, connectionId);
    const owner = { tenantId, ...DEMO_OWNER, roles: ["Administrator"] };
    const userId = await insertUser(tx, { clock, newId }, owner, passwordHash);
    await insertLogins(tx, clock, data.records<Login>("users"));
    await insertRows(tx, demo);
    await insertAll(tx, "document_attachments", ofDocuments as never[]);
    await insertAll(tx, "dispute_attachments", ofDisputes as never[]);
    const { payments: paid } = demo;
    await insertExports(tx, { files, connectionId, payments: paid }, demo.exports);
    await needs.credentials?.(tx, { tenantId, userId });
    await appendEntries(tx, store.auditKey, demo.auditEntries);
    return true;
  }, tenantId);
};
