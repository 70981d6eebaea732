import type { Contract } from "../../contract/index.ts";
import { utcCalendar } from "../../contract/insights/calendar.ts";
import type { Input } from "../../contract/operation.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Seal } from "../../kit/seal.ts";
import { dropFiles } from "../files/drop.ts";
import type { FileStore } from "../files/port.ts";
import type { Call, Handlers, Listing, Result } from "../handlers.ts";
import { formatAmount } from "../money.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  countDisputes,
  type DisputeFilter,
  estimateDisputesCost,
  findDispute,
  insertDisputes,
  type NamedDispute,
  takeDisputeCode,
  removeDispute,
  selectDisputes,
  updateDispute,
} from "../store/queries/disputes.ts";
import { findNamed } from "../store/queries/disputes-by-name.ts";
import type { Db } from "../store/port.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { findSpellings } from "../store/queries/spellings.ts";
import { readActivity } from "./disputes/activity.ts";
import { createChanges } from "./disputes/changes.ts";
import { chooseAssignee } from "./disputes/assignee.ts";
import { findDefaultAssignee } from "../store/queries/categories.ts";
import { checkAmount, describeChange, describeEnd, planUpdate } from "./disputes/change.ts";
import { findCurrency } from "./disputes/document.ts";
import { readPrecedents } from "./disputes/precedents.ts";
import { chooseReasons } from "./disputes/reason.ts";
import { removeContents } from "./disputes/removal.ts";
import { summarize } from "./disputes/summary.ts";
import { omitAccountName, toDispute } from "./disputes/to-dispute.ts";
import { readTriage } from "./disputes/triage.ts";
import { parseBodyPage, readListing, parsePage } from "./listing.ts";
import { changeFields, creationFields, shorten, withAuditFacts } from "./records.ts";

type Create = Contract["disputes"]["create"];
type Update = Contract["disputes"]["update"];

const findOr404 = async (db: Db, call: Call, id: string): Promise<NamedDispute> =>
  (await findDispute(db, call.tenantId, id)) ??
  call.fail("not_found", `There is no dispute ${shorten(id)}.`);

const insertDispute = async (
  tx: Db,
  call: Call<Create>,
  body: Input<Create>["body"],
  id: string,
): Promise<NamedDispute> => {
  const tenant = await readTenant(tx, call.tenantId);
  const currency = await findCurrency(tx, call, body, tenant);
  checkAmount(call, body.amount, currency);
  const reasons = await chooseReasons(tx, call, body);
  if (reasons === undefined) return call.refuse("reasonId", "required", "is required");
  const named = (await chooseAssignee(tx, call, body)) ?? null;
  await insertDisputes(tx, [
    {
      tenant_id: call.tenantId,
      id,
      code: await takeDisputeCode(tx, call.tenantId, body.documentNumber),
      document_number: body.documentNumber,
      account_number: body.accountNumber,
      account_name: null,
      account_name_folded: null,
      amount: formatAmount(body.amount),
      amount_order: body.amount,
      currency_code: currency,
      reason_id: reasons.reasonId,
      external_reason_id: reasons.externalReasonId,
      assignee_id: named ?? (await findDefaultAssignee(tx, call.tenantId, reasons.categoryId)),
      po_number: body.poNumber ?? null,
      status: 0,
      is_valid: 0,
      resolution_id: null,
      closed_at: null,
      origin: call.origin,
      source_key: null,
      source_row: null,
      ...creationFields(call),
    },
  ]);
  return findOr404(tx, call, id);
};

/** Writes what the body changes. Returns the dispute after the change. */
const applyUpdate = async (
  tx: Db,
  call: Call<Update>,
  body: Input<Update>["body"],
  before: NamedDispute,
): Promise<NamedDispute> => {
  checkIfMatch(call, before);
  const { settings } = await readTenant(tx, call.tenantId);
  const changed = await planUpdate(tx, call, body, before, settings);
  if (Object.keys(changed).length === 0) return before;
  await updateDispute(tx, call.tenantId, before.id, {
    ...changed,
    ...changeFields(before, call),
  });
  return findOr404(tx, call, before.id);
};

const LOOKUP_STATUSES = { Open: [0], Closed: [1], Cancel: [2], All: undefined } as const;

export type DisputeNeeds = { newId: NewId; files: FileStore; log: Log; changesSeal: Seal };

/** Lists the disputes of a lookup, with the page that its body asks for. */
const lookUp = async (
  call: Call,
  filter: DisputeFilter,
  body: { page?: number | undefined; pageSize?: number | undefined },
): Promise<Result<Listing<ReturnType<typeof omitAccountName>>>> => {
  const { page = 1, pageSize } = body;
  // Without a page size all rows are on page 1. An empty page 2 ends a client's loop over pages.
  if (pageSize === undefined && page > 1) {
    return { body: { total: await countDisputes(call.db, call.tenantId, filter), rows: [] } };
  }
  const found = await readListing(call, {
    count: (db) => countDisputes(db, call.tenantId, filter),
    select: (db) => selectDisputes(db, call.tenantId, filter),
    cost: estimateDisputesCost(filter),
    shape: omitAccountName,
    page: parseBodyPage(body),
  });
  return { body: found };
};

type Service = Handlers<Contract["disputes"]>;

const get: Service["get"] = async ({ params }, call) => {
  const row = await findOr404(call.db, call, params.disputeId);
  return { body: toDispute(row), version: row };
};

const startOf = (day: string | undefined): number | undefined =>
  day === undefined ? undefined : utcCalendar.startOf(day);

const endOf = (day: string | undefined): number | undefined =>
  day === undefined ? undefined : utcCalendar.endOf(day);

/** Returns a code as the dispute has it, which may be in another letter case. */
const spellCode = async ({ db, tenantId }: Call, code: string | undefined) => {
  if (code === undefined) return undefined;
  const target = { table: "disputes", column: "code", tenantId } as const;
  const spellings = await findSpellings(db, target, [code]);
  return spellings.includes(code) ? code : (spellings[0] ?? code);
};

const list: Service["list"] = async ({ query }, call) => {
  const filter: DisputeFilter = {
    reasonName: query.ReasonName,
    departmentName: query.DepartmentName,
    categoryName: query.CategoryName,
    statuses: query.Status,
    assigneeId: query.AssigneeId,
    departmentId: query.DepartmentId,
    documentNumbers: query.DocumentNumber === undefined ? undefined : [query.DocumentNumber],
    accountNumber: query.AccountNumber,
    accountName: await findNamed(call.db, call.tenantId, query.AccountName),
    code: await spellCode(call, query.DisputeCode),
    currencyCode: query.CurrencyCode,
    amountMin: query.AmountMin,
    amountMax: query.AmountMax,
    createdFrom: startOf(query.CreateDateFrom),
    createdTo: endOf(query.CreateDateTo),
    closedFrom: startOf(query.ClosedDateFrom),
    closedTo: endOf(query.ClosedDateTo),
    unassigned: query.Unassigned,
  };
  const found = await readListing(call, {
    count: (db) => countDisputes(db, call.tenantId, filter),
    select: (db) => selectDisputes(db, call.tenantId, filter, query.Sort),
    cost: estimateDisputesCost(filter, query.Sort),
    shape: toDispute,
    page: parsePage(query),
  });
  return { body: found };
};

const create =
  ({ newId }: DisputeNeeds): Service["create"] =>
  ({ body }, call) => {
    const id = newId();
    return call.change(async (tx) => {
      const row = await insertDispute(tx, call, body, id);
      return { body: toDispute(row), version: row, createdId: id };
    });
  };

const update: Service["update"] = async ({ params, body }, call) => {
  return call.change(async (tx) => {
    const before = await findOr404(tx, call, params.disputeId);
    const end = describeEnd(before);
    const audit = { before: before.status, metadata: end };
    const row = await withAuditFacts(audit, () => applyUpdate(tx, call, body, before));
    const metadata = { ...end, ...describeChange(before, row) };
    return { body: omitAccountName(row), version: row, audit: { ...audit, metadata } };
  });
};

const remove =
  ({ files, log }: DisputeNeeds): Service["delete"] =>
  async ({ params }, call) => {
    const { disputeId } = params;
    const { keys, ...result } = await call.change(async (tx) => {
      checkIfMatch(call, await findOr404(tx, call, disputeId));
      await removeDispute(tx, call.tenantId, disputeId);
      return { body: null, keys: await removeContents(tx, call, disputeId) };
    });
    await dropFiles({ files, log }, keys);
    return result;
  };

const listByDocumentNumbers: Service["list_by_document_numbers"] = ({ params, body }, call) =>
  lookUp(
    call,
    {
      accountNumber: params.accountNumber,
      documentNumbers: body.documentNumbers,
      statuses: LOOKUP_STATUSES[body.status ?? "All"],
    },
    body,
  );

const listByIds: Service["list_by_ids"] = ({ body }, call) =>
  lookUp(call, { ids: body.disputeIds }, body);

export const disputes = (needs: DisputeNeeds): Service => ({
  get,
  list,
  create: create(needs),
  update,
  delete: remove(needs),
  summary: summarize,
  triage: readTriage,
  activity: readActivity,
  changes: createChanges(needs.changesSeal),
  precedents: readPrecedents,
  list_by_document_numbers: listByDocumentNumbers,
  list_by_ids: listByIds,
});
