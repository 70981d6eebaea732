import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { checked } from "../services/ingest/body.ts";
import { changed, made } from "../services/records.ts";
import { findAccounts } from "../store/accounts.ts";
import { updateDispute } from "../store/disputes.ts";
import { findDocuments } from "../store/documents.ts";
import { findImportedDisputes, insertNumbered } from "../store/imported-disputes.ts";
import type { Db } from "../store/port.ts";
import type { DisputeRow } from "../store/tables.ts";
import { readTenant } from "../store/tenants.ts";
import { makeReason, readConfiguration } from "./disputes/configuration.ts";
import { differing, planDispute, type Said, type Situation } from "./disputes/plan.ts";
import { DisputeValues } from "./disputes/values.ts";
import { fieldsOf } from "./fields.ts";
import { IMPORTER } from "./importer.ts";
import { boundedKey } from "./key.ts";
import type { Accepted, Outcome, Target } from "./target.ts";

type Needs = {
  tenantId: string;
  createConfiguration: boolean;
  clock: Clock;
  newId: NewId;
};

type Row = Accepted<DisputeValues>;

const keyOf = ({ sourceKey, values }: Row): string => {
  const { accountNumber, documentNumber, createDate } = values;
  return boundedKey(sourceKey ?? JSON.stringify({ accountNumber, documentNumber, createDate }));
};

/** One batch of rows on its way into the store. */
type Batch = Needs & {
  tx: Db;
  now: number;
  situation: Situation;
  known: Map<string, DisputeRow>;
  /** Keys of disputes that the batch makes. */
  fresh: Set<string>;
  /** What the batch changes of others, by their ids. */
  changes: Map<string, Partial<DisputeRow>>;
};

const saidOf = (row: DisputeRow | undefined): Said =>
  row?.source_row == null ? {} : (JSON.parse(row.source_row) as Said);

/** What the source has said in all; how a dispute ended is void once its status is another. */
const saying = (values: DisputeValues, said: Said): Said => {
  const { closedDate: _date, resolutionCode: _code, ...lasting } = said;
  const moves = values.status !== undefined && values.status !== said.status;
  return { ...(moves ? lasting : said), ...values };
};

const blank = ({ tenantId, newId, now }: Batch, key: string): DisputeRow => ({
  tenant_id: tenantId,
  id: newId(),
  code: "",
  document_number: "",
  account_number: "",
  account_name: null,
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
  ...made({ caller: IMPORTER, now }),
});

/** The plan's columns that are not so already. */
const effective = (columns: Partial<DisputeRow>, before: DisputeRow): Partial<DisputeRow> =>
  Object.fromEntries(
    Object.entries(columns).filter(([name, value]) => before[name as keyof DisputeRow] !== value),
  );

const routed = ({ situation }: Batch, row: DisputeRow, categoryId: string): DisputeRow =>
  row.status !== 0 || row.assignee_id !== null
    ? row
    : { ...row, assignee_id: situation.known.routes.get(categoryId) ?? null };

const change = (batch: Batch, key: string, before: DisputeRow, columns: Partial<DisputeRow>) => {
  batch.known.set(key, { ...before, ...columns });
  if (batch.fresh.has(key)) return;
  batch.changes.set(before.id, { ...batch.changes.get(before.id), ...columns });
};

const writeRow = async (batch: Batch, row: Row): Promise<Outcome> => {
  const { known, situation, now } = batch;
  const key = keyOf(row);
  const before = known.get(key);
  const said = saidOf(before);
  if (before !== undefined && differing(row.values, said).size === 0) return "unchanged";
  const { faults, columns, reason: named } = planDispute(row.values, said, before, situation);
  if (faults.length > 0) return faults;
  const reason =
    named === undefined || "id" in named ? named : await makeReason(batch, situation.known, named);
  if (reason !== undefined) columns.reason_id = reason.id;
  const source_row = JSON.stringify(saying(row.values, said));
  if (before === undefined) {
    const made = { ...blank(batch, key), ...columns, source_row };
    known.set(key, reason === undefined ? made : routed(batch, made, reason.category_id));
    batch.fresh.add(key);
    return "written";
  }
  const differs = effective(columns, before);
  if (Object.keys(differs).length === 0) {
    change(batch, key, before, { source_row });
    return "unchanged";
  }
  const tracked = changed(before, { caller: IMPORTER, now });
  change(batch, key, before, { ...differs, ...tracked, source_row });
  return "written";
};

const openBatch = async (needs: Needs, tx: Db, rows: readonly Row[]): Promise<Batch> => {
  const { tenantId, createConfiguration, clock } = needs;
  const now = clock();
  const tenant = await readTenant(tx, tenantId);
  const named = (field: "documentNumber" | "accountNumber") => [
    ...new Set(rows.map(({ values }) => values[field])),
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
  const found = await findImportedDisputes(tx, tenantId, [...new Set(rows.map(keyOf))]);
  const known = new Map(found.map((row) => [row.source_key ?? "", row]));
  return { ...needs, tx, now, situation, known, fresh: new Set(), changes: new Map() };
};

/** Disputes, each known by what names it in its file: a row that is known changes its dispute. */
export const disputeTarget = (needs: Needs): Target<DisputeValues> => ({
  kind: "disputes",
  fields: fieldsOf(DisputeValues),
  batchRows: 500,
  parse: (record) => checked(DisputeValues, record),
  async write(tx, rows) {
    const batch = await openBatch(needs, tx, rows);
    const outcomes: Outcome[] = [];
    for (const row of rows) outcomes.push(await writeRow(batch, row));
    const made = [...batch.fresh].flatMap((key) => batch.known.get(key) ?? []);
    await insertNumbered(tx, needs.tenantId, made);
    for (const [id, columns] of batch.changes) {
      await updateDispute(tx, needs.tenantId, id, columns);
    }
    return outcomes;
  },
});
