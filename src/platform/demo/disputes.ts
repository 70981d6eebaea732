import { DAY, HOUR } from "../../kit/clock.ts";
import type { AssigneeRow, DisputeRow, DisputeSequenceRow } from "../store/tables.ts";
import type { Case } from "./cases.ts";
import { CATEGORIES, DEPARTMENTS } from "./catalogue.ts";
import { authorOf, type Configuration, idOf, LEFT, type Making } from "./configuration.ts";
import { officeTime } from "./moments.ts";
import { CLERK, MANAGER, PORTAL } from "./people.ts";

/** A dispute's row beside what its notes need to know. */
export type Dispute = {
  row: DisputeRow;
  case: Case;
  assignee: AssigneeRow | null;
};

type Moments = { createdAt: number; endedAt: number | null };

const momentsOf = ({ dice, now }: Making, one: Case): Moments => {
  const createdAt = officeTime(dice, now - one.ageDays * DAY, now - HOUR);
  const ended = officeTime(dice, createdAt + one.cycleDays * DAY, now);
  const endedAt = Math.max(ended, createdAt + dice.whole(30, 200) * (HOUR / 60));
  return { createdAt, endedAt: one.status === 0 ? null : endedAt };
};

const UNASSIGNED = { 0: 0.12, 1: 0, 2: 0.3 } as const;
const OWNER_TAKES = 0.7;
const LEFT_TOOK = 0.5;

const departmentOf = ({ reason }: Case): string =>
  reason.code === "FREIGHT"
    ? "LOGISTICS"
    : (CATEGORIES.find((category) => category.code === reason.category)?.department ??
      DEPARTMENTS[0].code);

/** Who of a department can have had the dispute; somebody who has left, only what was worked before. */
const staffOf = (
  { now }: Making,
  one: Case,
  { createdAt, endedAt }: Moments,
  { departments, assignees }: Configuration,
): AssigneeRow[] => {
  const departmentId = idOf(departments, departmentOf(one));
  const worked = (endedAt ?? createdAt) < now - LEFT;
  return assignees.filter(
    (row) => row.department_id === departmentId && (row.active === 1 || worked),
  );
};

const assigneeOf = (
  making: Making,
  one: Case,
  moments: Moments,
  known: Configuration,
): AssigneeRow | null => {
  const { dice } = making;
  // Every throw is made in any case, so that what follows does not depend on the day.
  const nobody = dice.chance(UNASSIGNED[one.status]);
  const toOwner = dice.chance(OWNER_TAKES);
  const toLeft = dice.chance(LEFT_TOOK);
  const drawn = dice.share();
  if (nobody) return null;
  const staff = staffOf(making, one, moments, known);
  const category = known.categories.find(({ code }) => code === one.reason.category);
  const owner = staff.find(({ id }) => id === category?.default_assignee_id);
  const left = staff.find(({ active }) => active === 0);
  return (
    (toLeft ? left : undefined) ??
    (toOwner ? owner : undefined) ??
    staff[Math.floor(drawn * staff.length)] ??
    null
  );
};

const ending = (
  one: Case,
  { endedAt }: Moments,
  { resolutions }: Configuration,
): Pick<DisputeRow, "is_valid" | "resolution_id" | "closed_at"> => {
  if (one.resolution === null) return { is_valid: 0, resolution_id: null, closed_at: endedAt };
  const id = idOf(resolutions, one.resolution);
  const valid = resolutions.find((resolution) => resolution.id === id)?.is_valid ?? 0;
  return { is_valid: valid, resolution_id: id, closed_at: endedAt };
};

const UNTOUCHED = 0.45;

const changes = (
  making: Making,
  { createdAt, endedAt }: Moments,
  createdBy: string,
  assignee: AssigneeRow | null,
) => {
  const { dice, now } = making;
  const share = dice.share();
  const count = dice.whole(1, 3);
  const untouched = dice.chance(UNTOUCHED);
  const by = authorOf(making, assignee?.active === 1 ? assignee.email : MANAGER);
  const base = { created_by: createdBy, created_at: createdAt };
  if (endedAt !== null) {
    return { ...base, updated_by: by, updated_at: endedAt, version: count + 1 };
  }
  if (untouched) return { ...base, updated_by: createdBy, updated_at: createdAt, version: 1 };
  const updatedAt = createdAt + Math.floor((now - createdAt) * share);
  return { ...base, updated_by: by, updated_at: updatedAt, version: count + 1 };
};

const CENTS = 100;

const disputeOf = (making: Making, one: Case, known: Configuration): Omit<DisputeRow, "code"> => {
  const { dice, tenantId } = making;
  const { account, number, poNumber } = one.invoice;
  const moments = momentsOf(making, one);
  const assignee = assigneeOf(making, one, moments, known);
  const clerk = dice.chance(0.75) ? CLERK : MANAGER;
  const enteredBy = authorOf(making, one.external === null ? clerk : PORTAL);
  return {
    tenant_id: tenantId,
    id: dice.id(),
    document_number: number,
    account_number: account.number,
    account_name: account.name,
    amount: String(one.cents / CENTS),
    amount_order: one.cents / CENTS,
    currency_code: account.currency,
    reason_id: idOf(known.reasons, one.reason.code),
    external_reason_id: one.external === null ? null : idOf(known.reasons, one.external.code),
    assignee_id: assignee?.id ?? null,
    po_number: poNumber,
    status: one.status,
    ...ending(one, moments, known),
    origin: one.external === null ? "api" : "portal",
    source_key: null,
    source_row: null,
    ...changes(making, moments, enteredBy, assignee),
  };
};

/** Codes count a document's disputes in the order of their creation. */
export const disputes = (
  making: Making,
  all: readonly Case[],
  known: Configuration,
): { disputes: Dispute[]; sequences: DisputeSequenceRow[] } => {
  const last = new Map<string, number>();
  const made = all
    .map((one) => ({ case: one, row: disputeOf(making, one, known) }))
    .toSorted((one, other) => one.row.created_at - other.row.created_at)
    .map(({ case: one, row }): Dispute => {
      const place = (last.get(row.document_number) ?? 0) + 1;
      last.set(row.document_number, place);
      const code = `D-${row.document_number}-${String(place).padStart(2, "0")}`;
      const assignee = known.assignees.find(({ id }) => id === row.assignee_id) ?? null;
      return { case: one, row: { ...row, code }, assignee };
    });
  const sequences = [...last].map(([document_number, count]) => ({
    tenant_id: making.tenantId,
    document_number,
    last: count,
  }));
  return { disputes: made, sequences };
};
