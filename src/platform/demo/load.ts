import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { insertTenant } from "../admin/tenants.ts";
import { insertUser } from "../admin/users.ts";
import { appendEntries } from "../store/audit-chain.ts";
import type { FileStore } from "../files/port.ts";
import { announceFiles, claimFiles } from "../files/unclaimed.ts";
import { insertDisputes } from "../store/disputes.ts";
import type { Db, Store } from "../store/port.ts";
import type { Tables } from "../store/tables.ts";
import { inserting } from "../store/upsert.ts";
import { findTenant } from "../store/tenants.ts";
import { createDice } from "./dice.ts";
import { insertExports } from "./exports.ts";
import type { Demo, DemoRows } from "./generate.ts";
import type { Paper } from "./papers/paper.ts";
import { insertPayments } from "./payments/insert.ts";
import { LOGINS } from "./people.ts";

export const DEMO_TENANT = {
  tenantId: "demo",
  name: "Demo Manufacturing Inc.",
  currency: "USD",
} as const;

/** Whose credentials the embedded server works with. */
export const DEMO_OWNER = {
  email: "agent@demo-manufacturing.example",
  firstName: "Demo",
  lastName: "Agent",
} as const;

const DEMO_SEED = 42;

export type DemoOwner = { tenantId: string; userId: string };

export type DemoNeeds = {
  store: Store;
  files: FileStore;
  clock: Clock;
  newId: NewId;
  /** The owner's; without it the owner has no login, only the keys that `credentials` makes. */
  passwordHash?: string;
  /** Makes the owner's keys in the transaction of everything else. */
  credentials?: (tx: Db, owner: DemoOwner) => Promise<void>;
};

type Counts = Record<
  | "users"
  | "categories"
  | "reasons"
  | "departments"
  | "assignees"
  | "resolutions"
  | "businessUnits"
  | "scores"
  | "applications"
  | "accounts"
  | "accountNotes"
  | "documents"
  | "documentAttachments"
  | "disputeAttachments"
  | "disputes"
  | "notes"
  | "payments"
  | "exportRuns"
  | "auditEntries",
  number
>;

/** What was written; nothing where the tenant was there already. */
export type DemoLoaded = { loaded: true; counts: Counts } | { loaded: false };

const BATCH_ROWS = 100;

const insertAll = async <T extends keyof Tables>(
  tx: Db,
  table: T,
  rows: readonly Tables[T][],
): Promise<void> => {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.fromEntries(Object.keys(first).map((name) => [name, "value"]));
  // A row has all columns of its table, and nothing else; the types of a table not yet known cannot say so.
  await inserting(table, columns as never)(tx, rows);
};

const loginIds = (): ReadonlyMap<string, string> => {
  // Throws of their own, or users would bear the ids of the first records.
  const dice = createDice(DEMO_SEED + 1);
  return new Map(LOGINS.map(({ email }) => [email, dice.id()]));
};

const insertLogins = async (
  tx: Db,
  clock: Clock,
  ids: ReadonlyMap<string, string>,
): Promise<void> => {
  const { tenantId } = DEMO_TENANT;
  for (const { title, department, role, active, ...person } of LOGINS) {
    const id = ids.get(person.email);
    if (id === undefined) continue;
    const made = { tenantId, ...person, roles: [role] };
    await insertUser(tx, { clock, newId: () => id }, made, null);
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

/** Writes what was generated; the tenant and its people are there. */
export const insertRows = async (tx: Db, rows: DemoRows): Promise<void> => {
  await insertAll(tx, "departments", rows.departments);
  await insertAll(tx, "assignees", rows.assignees);
  await insertAll(tx, "categories", rows.categories);
  await insertAll(tx, "reasons", rows.reasons);
  await insertAll(tx, "resolutions", rows.resolutions);
  await insertAll(tx, "business_units", rows.businessUnits);
  await insertAll(tx, "company_scores", rows.scores);
  await insertAll(tx, "credit_applications", rows.applications);
  await insertAll(tx, "accounts", rows.accounts);
  await insertAll(tx, "account_notes", rows.accountNotes);
  await insertAll(tx, "documents", rows.documents);
  await insertAll(tx, "document_closures", rows.closures);
  await insertAll(tx, "csr_sequences", rows.csrSequences);
  for (let from = 0; from < rows.disputes.length; from += BATCH_ROWS) {
    await insertDisputes(tx, rows.disputes.slice(from, from + BATCH_ROWS));
  }
  await insertAll(tx, "dispute_sequences", rows.sequences);
  await insertAll(tx, "dispute_notes", rows.notes);
};

const countsOf = ({
  rows,
  payments,
  exports,
  auditEntries,
}: Demo): Omit<Counts, "documentAttachments" | "disputeAttachments"> => ({
  users: LOGINS.length + 1,
  categories: rows.categories.length,
  reasons: rows.reasons.length,
  departments: rows.departments.length,
  assignees: rows.assignees.length,
  resolutions: rows.resolutions.length,
  businessUnits: rows.businessUnits.length,
  scores: rows.scores.length,
  applications: rows.applications.length,
  accounts: rows.accounts.length,
  accountNotes: rows.accountNotes.length,
  documents: rows.documents.length,
  disputes: rows.disputes.length,
  notes: rows.notes.length,
  payments: payments.cashapp.length + payments.iandp.length + payments.bpn.length,
  exportRuns: exports.runs.length,
  auditEntries: auditEntries.length,
});

const MAX_BYTES = 1024 * 1024;

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Keeps the files, so that their records can say what they are. */
const keep = <Row extends { id: string }>(
  files: FileStore,
  connectionId: string,
  papers: readonly Paper<Row>[],
) =>
  Promise.all(
    papers.map(async ({ row, render }) => {
      const file_key = `${connectionId}/${row.id}`;
      const { size, sha256 } = await files.put(file_key, whole(await render()), MAX_BYTES);
      return { ...row, file_key, file_size: size, sha256 };
    }),
  );

/** Fills the demo tenant in one transaction, unless it exists. */
export const loadDemo = async (needs: DemoNeeds): Promise<DemoLoaded> => {
  const { store, clock, newId } = needs;
  const { tenantId } = DEMO_TENANT;
  if ((await findTenant(store.read, tenantId)) !== undefined) return { loaded: false };
  // Names, addresses and what makes files are only loaded where they are needed.
  const { generateDemo } = await import("./generate.ts");
  const ids = loginIds();
  const userOf = (email: string) => ids.get(email);
  const demo = generateDemo({ seed: DEMO_SEED, tenantId, now: clock(), userOf });
  const { rows, documentFiles, disputeFiles } = demo;
  const connectionId = newId();
  await announceFiles(needs, { tenantId, connectionId });
  const documentAttachments = await keep(needs.files, connectionId, documentFiles);
  const disputeAttachments = await keep(needs.files, connectionId, disputeFiles);
  return store.transaction(async (tx) => {
    // Another process may have been faster.
    if ((await findTenant(tx, tenantId)) !== undefined) return { loaded: false };
    await insertTenant(tx, { store, clock, newId: () => connectionId }, DEMO_TENANT);
    await claimFiles(tx, connectionId);
    const owner = { tenantId, ...DEMO_OWNER, roles: ["Administrator"] };
    const userId = await insertUser(tx, { clock, newId }, owner, needs.passwordHash ?? null);
    await insertLogins(tx, clock, ids);
    await insertRows(tx, rows);
    await insertAll(tx, "document_attachments", documentAttachments);
    await insertAll(tx, "dispute_attachments", disputeAttachments);
    await insertPayments(tx, tenantId, demo.payments);
    await insertExports(tx, needs.files, connectionId, demo.exports);
    await needs.credentials?.(tx, { tenantId, userId });
    await appendEntries(tx, store.auditKey, demo.auditEntries);
    return {
      loaded: true,
      counts: {
        ...countsOf(demo),
        documentAttachments: documentAttachments.length,
        disputeAttachments: disputeAttachments.length,
      },
    };
  }, tenantId);
};
