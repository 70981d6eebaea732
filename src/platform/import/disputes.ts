import { REOPENED_ACTION } from "../../contract/insights/reopened.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { describeEnd, pickChanged } from "../services/disputes/change.ts";
import { checkValue } from "../services/ingest/body.ts";
import { changeFields, creationFields } from "../services/records.ts";
import { findAccounts } from "../store/queries/accounts.ts";
import { appendEntries } from "../store/audit/chain.ts";
import type { NewEntry } from "../store/audit/entries.ts";
import { updateDispute } from "../store/queries/disputes.ts";
import { findDocuments } from "../store/queries/documents.ts";
import { findImportedDisputes, insertNumbered } from "../store/queries/imported-disputes.ts";
import type { Db, Store } from "../store/port.ts";
import type { DisputeRow } from "../store/tables/schema.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { createReason, readConfiguration } from "./disputes/configuration.ts";
import { findDifferences, planDispute, type SourceRow, type PlanContext } from "./disputes/plan.ts";
import { DISPUTE_ROLES, DisputeValues } from "./disputes/values.ts";
import { collectFields } from "./fields.ts";
import { IMPORTER } from "./importer.ts";
import { createOccurrences } from "./occurrences.ts";
import type { Accepted, Outcome, Target } from "./target.ts";
import { hash } from "node:crypto";

// Maximum length of an indexed key.
const MAX_KEY_LENGTH = 400;

/** Shortens a row's key by hashing, so that it fits an index. */
export const shortenKey = (key: string): string =>
  key.length <= MAX_KEY_LENGTH ? key : `sha256:${hash("sha256", key, "hex")}`;

type Needs = {
  tenantId: string;
  createConfiguration: boolean;
  clock: Clock;
  newId: NewId;
  store: Pick<Store, "auditKey">;
};

type Row = Accepted<DisputeValues>;

/** Several deductions of one document on one day are several disputes: `count` tells them apart, from 1. */
const buildDisputeKey = ({ sourceKey, values }: Row, count: number): string => {
  const { accountNumber, documentNumber, createDate } = values;
  const facts = { accountNumber, documentNumber, createDate, ...(count > 1 ? { count } : {}) };
  return shortenKey(sourceKey ?? JSON.stringify(facts));
};

/** A row with the key of its dispute. */
type Keyed = { row: Row; key: string };

/** One batch of rows to write in one transaction. */
type Batch = Needs & {
  tx: Db;
  now: number;
  /** Whether an earlier row of the file wrote a dispute: a later one replaces it, which is no reopening. */
  wasWritten: (key: string) => boolean;
  situation: PlanContext;
  known: Map<string, DisputeRow>;
  /** The stored disputes before the batch. */
  stored: readonly DisputeRow[];
  /** Keys of the disputes that the batch creates. */
  fresh: Set<string>;
  /** Columns that the batch changes of existing disputes, by id. */
  changes: Map<string, Partial<DisputeRow>>;
  /** Entries for the audit log, because a reopened dispute no longer has the date on which it had ended. */
  reopenings: NewEntry[];
};

const readSourceRow = (row: DisputeRow | undefined): SourceRow =>
  row?.source_row == null ? {} : (JSON.parse(row.source_row) as SourceRow);

/**
 * Merges a row into the values that the source has given so far. A change of status discards the former closing date
 * and resolution.
 */
const mergeSourceRow = (values: DisputeValues, source: SourceRow): SourceRow => {
  const { closedDate: _date, resolutionCode: _code, ...lasting } = source;
  const moves = values.status !== undefined && values.status !== source.status;
  return { ...(moves ? lasting : source), ...values };
};

const createBlankRow = ({ tenantId, newId, now }: Batch, key: string): DisputeRow => ({
  tenant_id: tenantId,
  id: newId(),
  code: "",
  document_number: "",
  account_number: "",
  account_name: null,
  account_name_folded: null,
  amount: "0",
  amount_order: 0,
  currency_code: "",
  reason_id: "",
  external_reason_id: null,
  assignee_id: null,
  po_number: null,
  status: 0,
  is_valid: 0,
  resolution_id: null,
  closed_at: null,
  origin: "import",
  source_key: key,
  source_row: null,
  ...creationFields({ caller: IMPORTER, now }),
});

const assignDefault = ({ situation }: Batch, row: DisputeRow, categoryId: string): DisputeRow =>
  row.status !== 0 || row.assignee_id !== null
    ? row
    : { ...row, assignee_id: situation.known.routes.get(categoryId) ?? null };

const recordReopening = (batch: Batch, key: string, before: DisputeRow): void => {
  const { id, closed_at } = before;
  if (closed_at === null || batch.wasWritten(key)) return;
  batch.reopenings.push({
    tenantId: batch.tenantId,
    id: batch.newId(),
    at: batch.now,
    method: "CLI",
    endpoint: "import",
    action: REOPENED_ACTION,
    statusCode: 200,
    metadata: { disputeId: id, resourceId: id, ...describeEnd(before), actor: IMPORTER.id },
  });
};

const recordChange = (
  batch: Batch,
  key: string,
  before: DisputeRow,
  columns: Partial<DisputeRow>,
) => {
  batch.known.set(key, { ...before, ...columns });
  if (batch.fresh.has(key)) return;
  if (columns.status === 0) recordReopening(batch, key, before);
  batch.changes.set(before.id, { ...batch.changes.get(before.id), ...columns });
};

const writeRow = async (batch: Batch, { row, key }: Keyed): Promise<Outcome> => {
  const { known, situation, now } = batch;
  const before = known.get(key);
  const source = readSourceRow(before);
  if (before !== undefined && findDifferences(row.values, source).size === 0) return "unchanged";
  const { faults, columns, reason: named } = planDispute(row.values, source, before, situation);
  if (faults.length > 0) return faults;
  const reason =
    named === undefined || "id" in named
      ? named
      : await createReason(batch, situation.known, named);
  if (reason !== undefined) columns.reason_id = reason.id;
  const source_row = JSON.stringify(mergeSourceRow(row.values, source));
  if (before === undefined) {
    const made = { ...createBlankRow(batch, key), ...columns, source_row };
    known.set(key, reason === undefined ? made : assignDefault(batch, made, reason.category_id));
    batch.fresh.add(key);
    return "written";
  }
  const differs = pickChanged(columns, before);
  if (Object.keys(differs).length === 0) {
    recordChange(batch, key, before, { source_row });
    return "unchanged";
  }
  const tracked = changeFields(before, { caller: IMPORTER, now });
  recordChange(batch, key, before, { ...tracked, ...differs, source_row });
  return "written";
};

const openBatch = async (
  needs: Needs & Pick<Batch, "wasWritten">,
  tx: Db,
  rows: readonly Keyed[],
): Promise<Batch> => {
  const { tenantId, createConfiguration, clock } = needs;
  const now = clock();
  const tenant = await readTenant(tx, tenantId);
  const named = (field: "documentNumber" | "accountNumber") => [
    ...new Set(rows.map(({ row }) => row.values[field])),
  ];
  const documents = await findDocuments(tx, tenantId, named("documentNumber"));
  const accounts = await findAccounts(tx, tenantId, named("accountNumber"));
  const configuration = await readConfiguration(tx, tenantId);
  const situation = {
    known: configuration,
    tenant,
    documents: new Map(documents.map((row) => [row.document_number, row])),
    accounts: new Map(accounts.map((row) => [row.account_number, row])),
    createConfiguration,
    now,
  };
  const found = await findImportedDisputes(tx, tenantId, [...new Set(rows.map(({ key }) => key))]);
  const known = new Map(found.map((row) => [row.source_key ?? "", row]));
  return {
    ...needs,
    tx,
    now,
    situation,
    known,
    stored: found,
    fresh: new Set(),
    changes: new Map(),
    reopenings: [],
  };
};

/** Creates the import target of disputes: a row creates the dispute with its key or changes it. */
/** The form of a dispute's row. */
export const DISPUTE_FORM: Pick<Target<DisputeValues>, "fields" | "parse"> = {
  fields: collectFields(DisputeValues, DISPUTE_ROLES),
  parse: (record) => checkValue(DisputeValues, record),
};

export const createDisputeTarget = (needs: Needs): Target<DisputeValues> => {
  const met = createOccurrences();
  const written = createOccurrences();
  const keyOf = (row: Row): string => buildDisputeKey(row, met.count(buildDisputeKey(row, 1)));
  return {
    kind: "disputes",
    ...DISPUTE_FORM,
    batchRows: 500,
    identify: ({ sourceKey, values }) =>
      sourceKey === undefined
        ? undefined
        : { field: "sourceKey", key: sourceKey, facts: [JSON.stringify(values)] },
    async write(tx, rows, journal) {
      const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
      const batch = await openBatch({ ...needs, wasWritten: written.has }, tx, keyed);
      const outcomes: Outcome[] = [];
      for (const one of keyed) {
        const outcome = await writeRow(batch, one);
        outcomes.push(outcome);
        if (outcome === "written") written.count(one.key);
      }
      const made = [...batch.fresh].flatMap((key) => batch.known.get(key) ?? []);
      await insertNumbered(tx, needs.tenantId, made);
      journal.created("disputes", made);
      const before = new Map(batch.stored.map((row) => [row.id, row]));
      for (const [id, columns] of batch.changes) {
        await updateDispute(tx, needs.tenantId, id, columns);
        const row = before.get(id);
        if (row !== undefined) journal.changed("disputes", row, { ...row, ...columns });
      }
      if (batch.reopenings.length > 0) {
        await appendEntries(tx, needs.store.auditKey, batch.reopenings);
      }
      return outcomes;
    },
    close() {
      met.close();
      written.close();
    },
  };
};
