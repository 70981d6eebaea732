import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { insertTenant } from "../admin/tenants.ts";
import { insertUser, type NewUser } from "../admin/users.ts";
import type { FileStore } from "../files/port.ts";
import { announceFiles, claimFiles } from "../files/unclaimed.ts";
import { appendEntries } from "../store/audit/chain.ts";
import type { NewEntry } from "../store/audit/entries.ts";
import { insertDisputes } from "../store/queries/disputes.ts";
import { fold } from "../store/engine/fold.ts";
import type { Db, Store } from "../store/port.ts";
import type { Tables, UserStatus } from "../store/tables/schema.ts";
import { updateMembership } from "../store/queries/memberships.ts";
import { findTenant } from "../store/queries/tenants.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { buildCreditApplications } from "./credit.ts";
import { type DemoData, openDemoData, type Row } from "./data.ts";
import { insertExports } from "./exports.ts";
import { buildLedger } from "./ledger.ts";
import { buildPayments, insertPayments } from "./payments.ts";

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

/** A step of the load: its name, and its place among all of them from 0. */
export type LoadStep = { name: string; done: number; total: number };

export type DemoNeeds = {
  store: Store;
  files: FileStore;
  clock: Clock;
  newId: NewId;
  /** Computed meanwhile; absent if the owner has no login, only the keys that `credentials` creates. */
  passwordHash?: Promise<string>;
  /** Called before each step of the load. */
  progress?: (step: LoadStep) => void;
  /** Creates the owner's keys in the same transaction. */
  credentials?: (tx: Db, owner: DemoOwner) => Promise<void>;
};

const { tenantId } = DEMO_TENANT;

/** The tables of the data, in the order of their references. */
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
  "credit_applications",
  "documents",
  "document_balances",
] as const satisfies (keyof Tables)[];

/** Completes rows of a table; lists and objects become JSON text, as the store has them. */
const toRows = <T extends keyof Tables>(given: readonly object[]): Tables[T][] =>
  given.map((record) => {
    const row: Row = { tenant_id: tenantId, ...record };
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === "object" && value !== null) row[name] = JSON.stringify(value);
    }
    return row as Tables[T];
  });

const buildRows = <T extends keyof Tables>(data: DemoData, table: T): Tables[T][] =>
  toRows<T>(data.records<Row>(table));

type Login = Omit<NewUser, "tenantId"> & {
  id: string;
  status: UserStatus;
  profile: { title: string; department: string };
};

const insertLogins = async (tx: Db, clock: Clock, logins: readonly Login[]): Promise<void> => {
  for (const { id, status, profile, ...person } of logins) {
    await insertUser(tx, { clock, newId: () => id }, { tenantId, ...person }, null);
    await updateMembership(tx, tenantId, id, { status, profile: JSON.stringify(profile) });
  }
};

/** Returns the data of all tables except users and files. Between the tables, other work of the event loop gets its turn. */
export const readDemo = async (data: DemoData) => {
  const ledger = buildLedger(data);
  const derived: Partial<Record<keyof Tables, () => Iterable<object>>> = {
    accounts: () => ledger.accounts.values(),
    documents: () => ledger.documents.values(),
    document_balances: () => ledger.balances,
    disputes: () =>
      data
        .records<{ account_name: string }>("disputes")
        .map((row) => ({ ...row, account_name_folded: fold(row.account_name) })),
    credit_applications: () => buildCreditApplications(data, tenantId),
  };
  const tables: Partial<Record<keyof Tables, object[]>> = {};
  for (const table of TABLES) {
    await setImmediate();
    tables[table] = toRows([...(derived[table]?.() ?? data.records<Row>(table))]);
  }
  await setImmediate();
  return {
    tables: tables as { [T in (typeof TABLES)[number]]: Tables[T][] },
    payments: buildPayments(data, tenantId, ledger),
    schedules: buildRows(data, "schedules"),
    runs: buildRows(data, "export_runs"),
    auditEntries: data.records<NewEntry>("audit").map((entry) => ({ ...entry, tenantId })),
  };
};

export type Demo = Awaited<ReturnType<typeof readDemo>>;

/** Inserts the rows of the data; the tenant and its users must exist. `begin` is called before each table. */
export const insertRows = async (
  tx: Db,
  { tables, payments }: Demo,
  begin: (name: string) => void = () => {},
): Promise<void> => {
  for (const table of TABLES) {
    begin(table.replaceAll("_", " "));
    if (table === "disputes") await insertDisputes(tx, tables.disputes);
    else await insertAll(tx, table, tables[table] as never[]);
  }
  begin("payments");
  await insertPayments(tx, tenantId, payments);
};

const ATTACHMENTS = ["document_attachments", "dispute_attachments"] as const;

type Attachment = Row & { id: string; file: string };

/** Stores the files of attachments, before the transaction that inserts their rows, and returns these by table. */
const storeFiles = (files: FileStore, data: DemoData, connectionId: string) => {
  const storeFile = async ({ file, ...record }: Attachment): Promise<object> => {
    const file_key = `${connectionId}/${record.id}`;
    const bytes = data.file(file);
    const { size, sha256 } = await files.put(file_key, [bytes], bytes.byteLength);
    return { ...record, file_key, file_size: size, sha256 };
  };
  const storeAll = (table: (typeof ATTACHMENTS)[number]) =>
    Promise.all(data.records<Attachment>(table).map(storeFile));
  return Promise.all(ATTACHMENTS.map(async (table) => toRows(await storeAll(table))));
};

/** Steps beside the tables: data and files, users, payments, attachments, exports, audit log. */
const OTHER_STEPS = 6;

const createSteps = ({ progress }: Pick<DemoNeeds, "progress">): ((name: string) => void) => {
  let done = 0;
  return (name) => {
    progress?.({ name, done, total: TABLES.length + OTHER_STEPS });
    done += 1;
  };
};

/** Loads the demo tenant in one transaction; returns false, and changes nothing, if it exists. */
export const loadDemo = async (needs: DemoNeeds): Promise<boolean> => {
  const { store, files, clock, newId } = needs;
  if ((await findTenant(store.read, tenantId)) !== undefined) return false;
  const begin = createSteps(needs);
  begin("data and files");
  const data = openDemoData(clock());
  const connectionId = newId();
  await announceFiles(needs, { tenantId, connectionId });
  const [attachments, demo] = await Promise.all([
    storeFiles(files, data, connectionId),
    readDemo(data),
  ]);
  const passwordHash = (await needs.passwordHash) ?? null;
  return store.transaction(async (tx) => {
    // Another process may have been faster.
    if ((await findTenant(tx, tenantId)) !== undefined) return false;
    begin("users");
    await insertTenant(tx, { store, clock, newId: () => connectionId }, DEMO_TENANT);
    await claimFiles(tx, connectionId);
    const owner = { tenantId, ...DEMO_OWNER, roles: ["Administrator"] };
    const userId = await insertUser(tx, { clock, newId }, owner, passwordHash);
    await insertLogins(tx, clock, data.records<Login>("users"));
    await insertRows(tx, demo, begin);
    begin("attachments");
    for (const [place, table] of ATTACHMENTS.entries()) {
      await insertAll(tx, table, attachments[place] as never[]);
    }
    begin("exports");
    await insertExports(tx, { files, connectionId, past: demo });
    await needs.credentials?.(tx, { tenantId, userId });
    begin("audit log");
    await appendEntries(tx, store.auditKey, demo.auditEntries);
    return true;
  }, tenantId);
};
