import { DocumentFields } from "../../contract/operations/documents.ts";
import type { Fault } from "../../contract/errors.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { checkAccount, checkDocument, pickAmounts } from "../services/documents/rules.ts";
import { saveDocuments, type Writer, type Writing } from "../services/documents/save.ts";
import type { Fields } from "../services/ingest/body.ts";
import { createMatchEntry } from "../services/payments/matching/audit.ts";
import { listDocumentKeys } from "../services/payments/matching/ledger.ts";
import { matchWaitingFor } from "../services/payments/matching/rematch.ts";
import { settleDocuments } from "../services/payments/matching/settle.ts";
import { parseDocument } from "../services/ingest/stored.ts";
import { findAccounts } from "../store/queries/accounts.ts";
import { appendEntries } from "../store/audit/chain.ts";
import { findDocuments } from "../store/queries/documents.ts";
import type { Db, Store } from "../store/port.ts";
import type { AccountRow, DocumentRow } from "../store/tables/schema.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { DOCUMENT_RULES } from "./document-rules.ts";
import { IMPORTER } from "./importer.ts";
import { type NumberedRecord, describeNumbered } from "./numbered-record.ts";
import type { Accepted, Journal, Needs, Outcome, Target } from "./target.ts";

type Row = Accepted<NumberedRecord>;

/** One batch of rows to write in one transaction. */
type Batch = {
  tx: Db;
  writer: Writer;
  known: Map<string, DocumentRow>;
  /** The accounts that rows may name; undefined if the tenant accepts unknown ones. */
  accounts: Map<string, AccountRow> | undefined;
  /** Changes to save, at most one per document. */
  waiting: Map<string, Writing>;
  journal: Journal;
  /** The documents that were saved. */
  saved: Map<string, DocumentRow>;
  /** The numbers of those that were there before. */
  replaced: Set<string>;
};

/** Needed to write which payments were matched to the audit log. */
type Audit = { store: Pick<Store, "auditKey">; newId: NewId };

const readKnownAccounts = async (tx: Db, tenantId: string, rows: readonly Row[]) => {
  const { settings } = await readTenant(tx, tenantId);
  if (!settings.requireKnownAccount) return undefined;
  const named = rows.map(({ values }) => values.sent["account_number"]);
  const numbers = new Set(named.filter((number) => typeof number === "string"));
  const found = await findAccounts(tx, tenantId, [...numbers]);
  return new Map(found.map((row) => [row.account_number, row]));
};

const openBatch = async (
  { tenantId, clock }: Needs,
  tx: Db,
  rows: readonly Row[],
  journal: Journal,
): Promise<Batch> => {
  const numbers = new Set(rows.map(({ values }) => values.number));
  const found = await findDocuments(tx, tenantId, [...numbers]);
  return {
    tx,
    writer: { tenantId, caller: IMPORTER, now: clock(), source: "import" },
    known: new Map(found.map((row) => [row.document_number, row])),
    accounts: await readKnownAccounts(tx, tenantId, rows),
    waiting: new Map(),
    journal,
    saved: new Map(),
    replaced: new Set(),
  };
};

const checkAccountKnown = (accounts: Map<string, AccountRow>, sent: Fields): Promise<Fault[]> =>
  checkAccount(sent, async (number) => accounts.get(number));

const saveBatch = async (batch: Batch): Promise<void> => {
  const { tx, writer, known, waiting, saved, journal } = batch;
  const rows = await saveDocuments(tx, writer, [...waiting.values()]);
  for (const row of rows) {
    const before = waiting.get(row.document_number)?.before;
    if (before === undefined) journal.created("documents", [row]);
    else if (before.version !== row.version) {
      journal.changed("documents", before, row);
      batch.replaced.add(row.document_number);
    }
    known.set(row.document_number, row);
    saved.set(row.document_number, row);
  }
  waiting.clear();
};

/** Matches payments that came before the documents, because no server may run. */
const matchPayments = async (
  { tx, writer: { tenantId, now }, saved, replaced }: Batch,
  audit: Audit | undefined,
): Promise<void> => {
  const keys = [...new Set([...saved.values()].flatMap(listDocumentKeys))];
  const settling = { tenantId, now: formatTimestamp(now) };
  const rows = [...saved.values()];
  // A new invoice has no payments yet.
  const explaining = rows.filter(
    (row) => row.applies_to_key !== null || replaced.has(row.document_number),
  );
  await settleDocuments(tx, settling, explaining);
  const { applied } = await matchWaitingFor(tx, settling, keys);
  if (applied.length === 0 || audit === undefined) return;
  const made = { tenantId, id: audit.newId(), at: now, method: "CLI", actor: IMPORTER.id };
  const entry = createMatchEntry({ ...made, paymentIds: applied });
  await appendEntries(tx, audit.store.auditKey, [entry]);
};

const writeRow = async (batch: Batch, { number, sent }: NumberedRecord): Promise<Outcome> => {
  const { known, waiting } = batch;
  // Two rows for one document are applied one after the other, like two requests.
  if (waiting.has(number)) await saveBatch(batch);
  const before = known.get(number);
  const request = {
    documentNumber: number,
    write: "replace" as const,
    acceptsCreditOnAccount: true,
  };
  const { value, faults } = checkDocument(
    sent,
    { ...request, before: before && parseDocument(before) },
    batch.accounts === undefined ? [] : await checkAccountKnown(batch.accounts, sent),
  );
  if (value === undefined) return faults;
  // A row that was imported before changes nothing, so it does not reopen a document closed since.
  if (before !== undefined && before.fields === JSON.stringify(value)) return "unchanged";
  waiting.set(number, { documentNumber: number, before, fields: value, sent: pickAmounts(sent) });
  return "written";
};

/** Creates the import target of documents: a row creates or replaces the document with its number. */
export const createDocumentTarget = (needs: Needs & Partial<Audit>): Target<NumberedRecord> => ({
  kind: "documents",
  ...describeNumbered("document_number", DocumentFields, DOCUMENT_RULES),
  async write(tx, rows, journal) {
    const batch = await openBatch(needs, tx, rows, journal);
    const outcomes: Outcome[] = [];
    for (const { values } of rows) outcomes.push(await writeRow(batch, values));
    await saveBatch(batch);
    const { store, newId } = needs;
    const hasAudit = store !== undefined && newId !== undefined;
    await matchPayments(batch, hasAudit ? { store, newId } : undefined);
    return outcomes;
  },
});
