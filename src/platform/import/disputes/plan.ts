import type { Fault } from "../../../contract/errors.ts";
import { formatAmount, findCurrencyDecimals, countDecimals } from "../../money.ts";
import { CLOSED, OPEN } from "../../services/disputes/change.ts";
import { chooseCurrency, findDocumentFault } from "../../services/disputes/document.ts";
import { fold } from "../../store/engine/fold.ts";
import type { AccountRow, DisputeRow, DocumentRow, ReasonRow } from "../../store/tables/schema.ts";
import type { Tenant } from "../../store/queries/tenants.ts";
import { chooseReason, type Configuration, type NewReason } from "./configuration.ts";
import { findTimeFaults } from "../source-values.ts";
import type { DisputeField, DisputeValues } from "./values.ts";

export type PlanContext = {
  known: Configuration;
  tenant: Tenant;
  /** The documents and accounts that rows name, by number. */
  documents: ReadonlyMap<string, DocumentRow>;
  accounts: ReadonlyMap<string, AccountRow>;
  createConfiguration: boolean;
  now: number;
};

/** The changes that a row makes, or its faults. */
export type Plan = {
  faults: Fault[];
  columns: Partial<DisputeRow>;
  reason: ReasonRow | NewReason | undefined;
};

/** The values that the source gave for a dispute in earlier imports. */
export type SourceRow = Partial<DisputeValues>;

/** Returns the fields in which a row differs from the source's earlier values; absent fields are ignored. */
export const findDifferences = (values: DisputeValues, source: SourceRow): Set<DisputeField> =>
  new Set(
    (Object.keys(values) as DisputeField[]).filter(
      (name) => values[name] !== undefined && values[name] !== source[name],
    ),
  );

type Planning = {
  values: DisputeValues;
  differs: ReadonlySet<DisputeField>;
  /** The status according to the source. */
  status: 0 | 1 | 2;
  before: DisputeRow | undefined;
  situation: PlanContext;
  plan: Plan;
};

const refuse = ({ plan }: Planning, field: DisputeField, code: string, message: string): void => {
  plan.faults.push({ field, code, message });
};

const COPIED = {
  accountNumber: "account_number",
  accountName: "account_name",
  documentNumber: "document_number",
  poNumber: "po_number",
  currencyCode: "currency_code",
} as const;

const planCopies = ({ values, differs, plan }: Planning): void => {
  for (const [name, column] of Object.entries(COPIED)) {
    const value = values[name as keyof typeof COPIED];
    if (differs.has(name as DisputeField) && value !== undefined) plan.columns[column] = value;
  }
  const { account_name: accountName } = plan.columns;
  if (typeof accountName === "string") plan.columns.account_name_folded = fold(accountName);
};

/** Plans the columns that depend on the document and account of a new or moved dispute. */
const planDocument = ({ values, differs, before, situation, plan }: Planning): void => {
  if (!differs.has("documentNumber") && !differs.has("accountNumber")) return;
  const { documents, accounts, tenant } = situation;
  const document = documents.get(values.documentNumber);
  const fault = findDocumentFault(values, { document }, tenant);
  if (fault !== undefined) plan.faults.push(fault);
  if (before !== undefined || values.currencyCode !== undefined) return;
  const account = accounts.get(values.accountNumber);
  plan.columns.currency_code = chooseCurrency({ document, account }, tenant);
};

const planAmount = (planning: Planning): void => {
  const { values, differs, before, situation, plan } = planning;
  if (!differs.has("amount") && !differs.has("currencyCode")) return;
  const currency = plan.columns.currency_code ?? before?.currency_code ?? situation.tenant.currency;
  const decimals = findCurrencyDecimals(currency);
  if (countDecimals(values.amount) > decimals) {
    refuse(planning, "amount", "format", `may have ${decimals} decimals in ${currency}`);
  }
  plan.columns.amount = formatAmount(values.amount);
  plan.columns.amount_order = values.amount;
};

const planReason = (planning: Planning): void => {
  const { values, differs, before, situation, plan } = planning;
  if (before !== undefined && !differs.has("categoryCode") && !differs.has("reasonCode")) return;
  const chosen = chooseReason(situation.known, values, situation.createConfiguration);
  if ("fault" in chosen) plan.faults.push(chosen.fault);
  else plan.reason = chosen.reason;
};

const planAssignee = (planning: Planning): void => {
  const { values, differs, situation, plan } = planning;
  if (values.assigneeEmail === undefined || !differs.has("assigneeEmail")) return;
  const found = situation.known.assignees.get(fold(values.assigneeEmail));
  if (found === undefined) {
    refuse(planning, "assigneeEmail", "unknown_reference", "names no assignee");
  } else {
    plan.columns.assignee_id = found.id;
  }
};

const checkClosing = (planning: Planning): void => {
  const { values, status } = planning;
  if (values.closedDate !== undefined && status === OPEN) {
    refuse(planning, "closedDate", "conflict", "goes with status 1 or 2 only");
  }
  if (values.resolutionCode !== undefined && status !== CLOSED) {
    refuse(planning, "resolutionCode", "conflict", "goes with status 1 only");
  }
};

const planResolution = (planning: Planning, moves: boolean): void => {
  const { values, differs, situation, plan } = planning;
  const { resolutionCode } = values;
  if (resolutionCode === undefined) {
    if (moves) plan.columns.resolution_id = null;
    return;
  }
  if (!moves && !differs.has("resolutionCode")) return;
  const found = situation.known.resolutions.get(fold(resolutionCode));
  if (found === undefined) {
    refuse(planning, "resolutionCode", "unknown_reference", "names no resolution");
    return;
  }
  plan.columns.resolution_id = found.id;
  plan.columns.is_valid = found.is_valid;
};

/** Plans a change of status. Its date is the row's closing date, else the time of the import. */
const planStatus = (planning: Planning): void => {
  const { values, differs, before, situation, plan, status } = planning;
  checkClosing(planning);
  const present = before?.status ?? OPEN;
  const moves = differs.has("status") && status !== present;
  const to = moves ? status : present;
  if (moves) plan.columns.status = to;
  if (to === OPEN) {
    if (moves) Object.assign(plan.columns, { closed_at: null, resolution_id: null, is_valid: 0 });
    return;
  }
  if (values.closedDate !== undefined && (moves || differs.has("closedDate"))) {
    plan.columns.closed_at = Date.parse(values.closedDate);
  } else if (moves) {
    plan.columns.closed_at = situation.now;
  }
  if (to === CLOSED) planResolution(planning, moves);
  else if (moves) plan.columns.resolution_id = null;
};

/** Plans the time of the last change. A time of the source before the last change here says nothing new. */
const planUpdate = ({ values, differs, before, situation, plan }: Planning): void => {
  const { createDate, updateDate } = values;
  if (updateDate === undefined || !differs.has("updateDate")) return;
  plan.faults.push(
    ...findTimeFaults({ createDate, updateDate }, ["createDate", "updateDate"], situation.now),
  );
  const at = Date.parse(updateDate);
  if (before === undefined || at > before.updated_at) plan.columns.updated_at = at;
};

/** Plans the changes that a row makes to its dispute, or to a new one if `before` is undefined. */
export const planDispute = (
  values: DisputeValues,
  source: SourceRow,
  before: DisputeRow | undefined,
  situation: PlanContext,
): Plan => {
  const plan: Plan = { faults: [], columns: {}, reason: undefined };
  const planning: Planning = {
    values,
    differs: findDifferences(values, source),
    status: values.status ?? source.status ?? OPEN,
    before,
    situation,
    plan,
  };
  planCopies(planning);
  planDocument(planning);
  planAmount(planning);
  planReason(planning);
  planAssignee(planning);
  planStatus(planning);
  if (values.createDate !== undefined && planning.differs.has("createDate")) {
    plan.columns.created_at = Date.parse(values.createDate);
  }
  planUpdate(planning);
  return plan;
};
