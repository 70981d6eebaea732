import type { Contract } from "../../../contract/index.ts";
import type { Input } from "../../../contract/operation.ts";
import type { Call } from "../../handlers.ts";
import { formatAmount, findCurrencyDecimals, countDecimals } from "../../money.ts";
import type { NamedDispute } from "../../store/queries/disputes.ts";
import { fold } from "../../store/engine/fold.ts";
import type { Db } from "../../store/port.ts";
import { findResolution, findResolutionByCode } from "../../store/queries/resolutions.ts";
import type { DisputeRow, ResolutionRow } from "../../store/tables/schema.ts";
import { chooseAssignee } from "./assignee.ts";
import { chooseReasons } from "./reason.ts";
import { formatTimestamp } from "../../../kit/clock.ts";

type Update = Contract["disputes"]["update"];
type Body = Input<Update>["body"];
type UpdateCall = Call<Update>;

export const OPEN = 0;
export const CLOSED = 1;
const CANCELED = 2;
const WORDS = ["Open", "Closed", "Cancel"];

/** Checks that the amount has no more decimals than its currency. @throws {Problem} invalid_request */
export const checkAmount = (call: Pick<Call, "refuse">, amount: number, currency: string): void => {
  const decimals = findCurrencyDecimals(currency);
  if (countDecimals(amount) <= decimals) return;
  call.refuse("amount", "format", `may have ${decimals} decimals in ${currency}`);
};

/** The field of the body that names the resolution. */
const resolutionFieldOf = ({ resolutionId, resolutionCode }: Body): string =>
  resolutionId == null && resolutionCode != null ? "resolutionCode" : "resolutionId";

const chooseResolution = async (
  tx: Db,
  call: UpdateCall,
  body: Body,
): Promise<ResolutionRow | null | undefined> => {
  const { resolutionId, resolutionCode } = body;
  if (resolutionId === undefined && resolutionCode === undefined) return undefined;
  if (resolutionId == null && resolutionCode == null) return null;
  const field = resolutionFieldOf(body);
  const found = await (resolutionId == null
    ? findResolutionByCode(tx, call.tenantId, resolutionCode ?? "")
    : findResolution(tx, call.tenantId, resolutionId));
  if (found === undefined) return call.refuse(field, "unknown_reference", "names no resolution");
  if (
    resolutionId != null &&
    resolutionCode != null &&
    found.code_folded !== fold(resolutionCode)
  ) {
    call.refuse("resolutionCode", "conflict", "is not the code of resolutionId");
  }
  return found;
};

type Fields = Partial<DisputeRow>;

/** Returns the columns of the fields that the body contains, except status and resolution. */
const toSentColumns = async (tx: Db, call: UpdateCall, body: Body, row: NamedDispute) => {
  const fields: Fields = {};
  if (body.amount !== undefined) {
    checkAmount(call, body.amount, row.currency_code);
    fields.amount = formatAmount(body.amount);
    fields.amount_order = body.amount;
  }
  const named = { ...body, externalReasonId: body.externalReasonId ?? undefined };
  const current = { internal: row.reason_id, external: row.external_reason_id };
  const reasons = await chooseReasons(tx, call, named, current);
  if (body.externalReasonId === null) fields.external_reason_id = null;
  if (reasons !== undefined) {
    fields.reason_id = reasons.reasonId;
    // An internal reason alone keeps the external one.
    if (reasons.externalReasonId !== null) fields.external_reason_id = reasons.externalReasonId;
  }
  const assignee = await chooseAssignee(tx, call, body, row.assignee_id);
  if (assignee !== undefined) fields.assignee_id = assignee;
  if (body.poNumber !== undefined) fields.po_number = body.poNumber;
  if (body.isValid !== undefined) fields.is_valid = body.isValid ? 1 : 0;
  return fields;
};

/** Returns the columns that differ from those of a row. */
export const pickChanged = (fields: Fields, row: DisputeRow): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => row[name as keyof DisputeRow] !== value),
  );

const checkMove = (call: UpdateCall, from: number, to: number): void => {
  if (from === OPEN || to === OPEN || from === to) return;
  call.fail(
    "invalid_transition",
    `The dispute is ${WORDS[from]} and cannot become ${WORDS[to]}. Reopen it first with status 0.`,
  );
};

const checkResolution = (
  call: UpdateCall,
  resolution: ResolutionRow | null | undefined,
  row: NamedDispute,
  { field, status, required }: { field: string; status: number; required: boolean },
): void => {
  const isNew = resolution && resolution.id !== row.resolution_id;
  if (isNew && status !== CLOSED) {
    call.refuse(field, "conflict", "goes with status 1 only");
  }
  if (isNew && resolution.active === 0) {
    call.refuse(field, "inactive", "names an inactive resolution");
  }
  if (required && status === CLOSED && row.status === OPEN && !resolution) {
    call.refuse("resolutionId", "required", "is required to close a dispute");
  }
};

const moveFields = (
  to: number,
  resolution: ResolutionRow | null | undefined,
  sentValid: Fields["is_valid"],
  now: number,
): Fields => {
  if (to === OPEN) {
    return { status: 0, closed_at: null, resolution_id: null, is_valid: sentValid ?? 0 };
  }
  if (to === CANCELED) return { status: 2, closed_at: now, resolution_id: null };
  const valid = sentValid ?? resolution?.is_valid;
  return {
    status: 1,
    closed_at: now,
    resolution_id: resolution?.id ?? null,
    ...(valid === undefined ? {} : { is_valid: valid }),
  };
};

/** Returns the columns that an update changes; empty where nothing differs. */
export const planUpdate = async (
  tx: Db,
  call: UpdateCall,
  body: Body,
  row: NamedDispute,
  settings: { requireResolutionOnClose: boolean },
): Promise<Fields> => {
  const to = body.status ?? row.status;
  checkMove(call, row.status, to);
  const resolution = await chooseResolution(tx, call, body);
  checkResolution(call, resolution, row, {
    field: resolutionFieldOf(body),
    status: to,
    required: settings.requireResolutionOnClose,
  });
  const fields = await toSentColumns(tx, call, body, row);
  const moves = to !== row.status;
  if (!moves && resolution !== undefined) fields.resolution_id = resolution?.id ?? null;
  const changed = pickChanged(fields, row);
  if (!moves && row.status !== OPEN && Object.keys(changed).length > 0) {
    call.fail(
      "conflict",
      `The dispute is ${WORDS[row.status]}; only open ones can be changed. Reopen it with status 0.`,
    );
  }
  if (!moves) return changed;
  // Reopening resets `isValid`, unless the body changes it.
  const sentValid = to === OPEN ? changed.is_valid : fields.is_valid;
  return { ...changed, ...moveFields(to, resolution, sentValid, call.now) };
};

/** The columns that people change, by the words of the audit log. */
const AUDITED = {
  amount: "amount",
  reason: "reason_id",
  externalReason: "external_reason_id",
  assignee: "assignee_id",
  poNumber: "po_number",
  resolution: "resolution_id",
  valid: "is_valid",
} as const satisfies Record<string, keyof NamedDispute>;

/** Returns status and time of a dispute that has ended, for the audit entry of its reopening: the record loses them. */
export const describeEnd = ({ status, closed_at }: DisputeRow): Record<string, string> =>
  closed_at === null
    ? {}
    : { formerStatus: String(status), formerClosedDate: formatTimestamp(closed_at) };

const describeAssignees = (before: NamedDispute, after: NamedDispute): Record<string, string> =>
  before.assignee_id === after.assignee_id
    ? {}
    : { formerAssigneeId: before.assignee_id ?? "", assigneeId: after.assignee_id ?? "" };

/** Names the fields that an update has changed, and both assignees of a reassignment. */
export const describeChange = (
  before: NamedDispute,
  after: NamedDispute,
): Record<string, string> => ({
  changed: Object.entries(AUDITED)
    .filter(([, column]) => before[column] !== after[column])
    .map(([name]) => name)
    .join(","),
  ...describeAssignees(before, after),
});
