import type { Contract } from "../../contract/index.ts";
import type { Category } from "../../contract/operations/categories.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  type CategoryView,
  findCategory,
  findCategoryByCode,
  hasReasons,
  insertCategory,
  selectCategories,
  removeCategory,
  updateCategory,
  viewCategory,
  viewCategoryByCode,
} from "../store/queries/categories.ts";
import type { Db } from "../store/port.ts";
import { findReason } from "../store/queries/reasons.ts";
import type { CategoryRow, ReasonRow } from "../store/tables/schema.ts";
import {
  type Asking,
  auditFields,
  changeFields,
  createAnswer,
  createFinder,
  creationFields,
  withResourceId,
} from "./records.ts";
import { readAll } from "./listing.ts";

type Default = {
  field: "defaultInternalReasonId" | "defaultExternalReasonId";
  column: "default_internal_reason_id" | "default_external_reason_id";
  fits: readonly ReasonRow["visibility"][];
};

const INTERNAL: Default = {
  field: "defaultInternalReasonId",
  column: "default_internal_reason_id",
  fits: ["Internal", "All"],
};
const EXTERNAL: Default = {
  field: "defaultExternalReasonId",
  column: "default_external_reason_id",
  fits: ["External", "All"],
};

const categoryWithId = createFinder("category", "id", findCategory);
export const categoryWithCode = createFinder("category", "code", findCategoryByCode);
const viewWithId = createFinder("category", "id", viewCategory);
const viewWithCode = createFinder("category", "code", viewCategoryByCode);

/** A category's default reasons, and the visibilities that each of them may have. */
export const DEFAULTS: readonly Default[] = [INTERNAL, EXTERNAL];

type Sent = { [Field in Default["field"]]?: string | null | undefined };

const toCategory = (row: CategoryView): Category => ({
  categoryId: row.id,
  tenantId: row.tenant_id,
  code: row.code,
  description: row.description,
  defaultInternalReasonId: row.default_internal_reason_id,
  defaultInternalReasonCode: row.internal_code,
  defaultExternalReasonId: row.default_external_reason_id,
  defaultExternalReasonCode: row.external_code,
  ...auditFields(row),
});

const answer = createAnswer(toCategory);

const findDefaultReason = async (
  tx: Db,
  call: Asking,
  { field, fits }: Default,
  id: string | null,
): Promise<string | null> => {
  if (id === null) return null;
  const reason =
    (await findReason(tx, call.tenantId, id)) ??
    call.refuse(field, "unknown_reference", "names no reason");
  if (fits.includes(reason.visibility)) return reason.id;
  return call.refuse(field, "visibility", `must name a reason of visibility ${fits.join(" or ")}`);
};

/** Returns the default reasons after the write: those sent, else those present. */
const findDefaultReasons = async (tx: Db, call: Asking, sent: Sent, present?: CategoryRow) => {
  const choose = (which: Default): Promise<string | null> => {
    const id = sent[which.field];
    return id === undefined
      ? Promise.resolve(present?.[which.column] ?? null)
      : findDefaultReason(tx, call, which, id);
  };
  return {
    default_internal_reason_id: await choose(INTERNAL),
    default_external_reason_id: await choose(EXTERNAL),
  };
};

/** Handlers of categories: the groups of reasons. */
export const categories = ({ newId }: { newId: NewId }): Handlers<Contract["categories"]> => ({
  async get({ params: { categoryCode } }, call) {
    return answer(await viewWithCode(call.db, call, categoryCode));
  },

  async get_by_id({ params: { categoryId } }, call) {
    return answer(await viewWithId(call.db, call, categoryId));
  },

  async list(_input, call) {
    return { body: await readAll(call, (db) => selectCategories(db, call.tenantId), toCategory) };
  },

  create({ body }, call) {
    return call.change(async (tx) => {
      const inserted = await insertCategory(tx, {
        tenant_id: call.tenantId,
        id: newId(),
        code: body.code,
        description: body.description,
        ...(await findDefaultReasons(tx, call, body)),
        default_assignee_id: null,
        ...creationFields(call),
      });
      const message = `A category has the code ${body.code} already.`;
      const row = await viewWithId(tx, call, (inserted ?? call.fail("duplicate_code", message)).id);
      return { ...answer(row), createdId: row.id };
    });
  },

  async update({ params: { categoryId }, body }, call) {
    return call.change(async (tx) => {
      const found = await categoryWithId(tx, call, categoryId);
      checkIfMatch(call, found);
      const next = {
        ...found,
        description: body.description ?? found.description,
        ...(await findDefaultReasons(tx, call, body, found)),
        ...changeFields(found, call),
      };
      return answer(await viewWithId(tx, call, (await updateCategory(tx, next)).id));
    });
  },

  delete({ params: { categoryCode } }, call) {
    return call.change(async (tx) => {
      const row = await categoryWithCode(tx, call, categoryCode);
      return withResourceId(row.id, async () => {
        checkIfMatch(call, row);
        if (await hasReasons(tx, row)) {
          call.fail("in_use", `The category ${row.code} has reasons. Move or delete them first.`);
        }
        await removeCategory(tx, row);
        return { body: null };
      });
    });
  },
});
