import type { Fault } from "../../../contract/errors.ts";
import type { NewId } from "../../../kit/ids.ts";
import { creationFields } from "../../services/records.ts";
import {
  insertCategory,
  selectCategories,
  updateCategory,
} from "../../store/queries/categories.ts";
import { selectAssignees } from "../../store/queries/assignees.ts";
import { fold } from "../../store/engine/fold.ts";
import type { Db } from "../../store/port.ts";
import { insertReason, selectReasons } from "../../store/queries/reasons.ts";
import { selectResolutions } from "../../store/queries/resolutions.ts";
import type {
  AssigneeRow,
  CategoryRow,
  ReasonRow,
  ResolutionRow,
} from "../../store/tables/schema.ts";
import { IMPORTER } from "../importer.ts";
import type { DisputeValues } from "./values.ts";

/** A tenant's dispute configuration, by the codes and addresses that rows use. */
export type Configuration = {
  categories: Map<string, CategoryRow>;
  reasons: Map<string, ReasonRow[]>;
  assignees: Map<string, AssigneeRow>;
  resolutions: Map<string, ResolutionRow>;
  /** Default assignee by category id. */
  routes: Map<string, string>;
};

const addReason = ({ reasons }: Configuration, reason: ReasonRow): void => {
  const same = reasons.get(reason.code_folded);
  if (same === undefined) reasons.set(reason.code_folded, [reason]);
  else same.push(reason);
};

const mapRoutes = (categories: readonly CategoryRow[], assignees: readonly AssigneeRow[]) => {
  const active = new Set(assignees.flatMap((row) => (row.active === 1 ? [row.id] : [])));
  return new Map(
    categories.flatMap(({ id, default_assignee_id: assignee }): [string, string][] =>
      assignee !== null && active.has(assignee) ? [[id, assignee]] : [],
    ),
  );
};

export const readConfiguration = async (tx: Db, tenantId: string): Promise<Configuration> => {
  const categories = await selectCategories(tx, tenantId).execute();
  const reasons = await selectReasons(tx, tenantId, {}).execute();
  const assignees = await selectAssignees(tx, tenantId, undefined).execute();
  const resolutions = await selectResolutions(tx, tenantId).execute();
  const known: Configuration = {
    categories: new Map(categories.map((row) => [row.code_folded, row])),
    reasons: new Map(),
    assignees: new Map(assignees.map((row) => [row.email_folded, row])),
    resolutions: new Map(resolutions.map((row) => [row.code_folded, row])),
    routes: mapRoutes(categories, assignees),
  };
  for (const reason of reasons) addReason(known, reason);
  return known;
};

/** A reason that a row names and that is to be created. */
export type NewReason = { categoryCode: string; reasonCode: string };

type Named = Pick<DisputeValues, "categoryCode" | "reasonCode">;
type Chosen = { reason: ReasonRow | NewReason } | { fault: Fault };

const toFault = (field: string, code: string, message: string): Chosen => ({
  fault: { field, code, message },
});

const requireInternal = (reason: ReasonRow): Chosen =>
  reason.visibility === "External"
    ? toFault("reasonCode", "visibility", "names a reason that is External only")
    : { reason };

const unknownReason = toFault("reasonCode", "unknown_reference", "names no reason");

const findDefaultReason = (
  known: Configuration,
  { default_internal_reason_id: id }: CategoryRow,
): Chosen => {
  const reason = [...known.reasons.values()].flat().find((one) => one.id === id);
  return reason === undefined
    ? toFault("reasonCode", "required", "is required: the category has no default internal reason")
    : { reason };
};

const chooseInCategory = (
  known: Configuration,
  categoryCode: string,
  named: Named,
  create: boolean,
): Chosen => {
  const { reasonCode } = named;
  const category = known.categories.get(fold(categoryCode));
  if (category === undefined && !create) {
    return toFault("categoryCode", "unknown_reference", "names no category");
  }
  if (reasonCode === undefined) {
    return category === undefined
      ? toFault("reasonCode", "required", "is required where the category is to be created")
      : findDefaultReason(known, category);
  }
  const reason = known.reasons
    .get(fold(reasonCode))
    ?.find(({ category_id }) => category_id === category?.id);
  if (reason !== undefined) return requireInternal(reason);
  return create ? { reason: { categoryCode, reasonCode } } : unknownReason;
};

/** Chooses the reason that a row names; with `create`, a reason that does not exist yet is allowed. */
export const chooseReason = (known: Configuration, named: Named, create: boolean): Chosen => {
  const { categoryCode, reasonCode } = named;
  if (categoryCode !== undefined) return chooseInCategory(known, categoryCode, named, create);
  if (reasonCode === undefined) {
    return toFault("reasonCode", "required", "is required, or categoryCode");
  }
  const [reason, ...others] = known.reasons.get(fold(reasonCode)) ?? [];
  if (reason === undefined) {
    return create
      ? toFault("categoryCode", "required", "is required where the reason is to be created")
      : unknownReason;
  }
  if (others.length === 0) return requireInternal(reason);
  const message = `exists in ${others.length + 1} categories; give categoryCode too`;
  return toFault("reasonCode", "ambiguous_reason_code", message);
};

type Creation = { tx: Db; tenantId: string; now: number; newId: NewId };

const createCategory = async ({ tx, tenantId, now, newId }: Creation, code: string) => {
  const row = await insertCategory(tx, {
    tenant_id: tenantId,
    id: newId(),
    code,
    description: code,
    default_internal_reason_id: null,
    default_external_reason_id: null,
    default_assignee_id: null,
    ...creationFields({ caller: IMPORTER, now }),
  });
  if (row === undefined) throw new Error(`the category ${code} was created meanwhile`);
  return row;
};

/** Creates a reason, and its category if it is missing. The first reason of a new category becomes its default. */
export const createReason = async (
  making: Creation,
  known: Configuration,
  { categoryCode, reasonCode }: NewReason,
): Promise<ReasonRow> => {
  const { tx, tenantId, now, newId } = making;
  const found = known.categories.get(fold(categoryCode));
  const category = found ?? (await createCategory(making, categoryCode));
  const reason = await insertReason(tx, {
    tenant_id: tenantId,
    id: newId(),
    category_id: category.id,
    code: reasonCode,
    description: reasonCode,
    active: 1,
    visibility: "Internal",
    dispute_days: null,
    ...creationFields({ caller: IMPORTER, now }),
  });
  if (reason === undefined) throw new Error(`the reason ${reasonCode} was created meanwhile`);
  if (found === undefined) {
    const row = await updateCategory(tx, { ...category, default_internal_reason_id: reason.id });
    known.categories.set(row.code_folded, row);
  }
  addReason(known, reason);
  return reason;
};
