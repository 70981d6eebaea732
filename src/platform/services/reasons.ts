import type { Contract } from "../../contract/index.ts";
import type { Input } from "../../contract/operation.ts";
import type { Reason } from "../../contract/operations/reasons.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Call, Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  findCategory,
  findCategoryByCode,
  listCategoriesByDefaultReason,
} from "../store/queries/categories.ts";
import type { Db } from "../store/port.ts";
import { readTenant } from "../store/queries/tenants.ts";
import {
  findReason,
  findReasonByCode,
  insertReason,
  isReasonUsed,
  selectReasons,
  removeReason,
  updateReason,
} from "../store/queries/reasons.ts";
import type { CategoryRow, ReasonRow } from "../store/tables/schema.ts";
import { categoryWithCode, DEFAULTS } from "./categories.ts";
import {
  describeMissing,
  type Asking,
  auditFields,
  changeFields,
  createAnswer,
  createFinder,
  creationFields,
  flag,
  findNamed,
  withResourceId,
} from "./records.ts";
import { readAll } from "./listing.ts";

type Contracts = Contract["reasons"];
type Update = Call<Contracts["update"]>;
type Naming = { categoryId?: string | undefined; categoryCode?: string | undefined };

export const toReason = (row: ReasonRow): Reason => ({
  reasonId: row.id,
  tenantId: row.tenant_id,
  code: row.code,
  description: row.description,
  active: row.active === 1,
  categoryId: row.category_id,
  visibility: row.visibility,
  ...auditFields(row),
});

const answer = createAnswer(toReason);

const resolveCategory = (tx: Db, call: Asking, body: Naming): Promise<CategoryRow> =>
  findNamed(tx, call, {
    noun: "category",
    id: body.categoryId,
    code: body.categoryCode,
    find: { byId: findCategory, byCode: findCategoryByCode },
  });

const findReasonAt = async (db: Db, call: Asking, categoryCode: string, code: string) => {
  const category = await categoryWithCode(db, call, categoryCode);
  const row = await findReasonByCode(db, call.tenantId, category.id, code);
  return (
    row ??
    call.fail("not_found", describeMissing(`reason in the category ${category.code}`, "code", code))
  );
};

const reasonWithId = createFinder("reason", "id", findReason);

const createTaken = (category: CategoryRow, code: string): string =>
  `The category ${category.code} has a reason with the code ${code} already.`;

/** Checks that categories whose default reason this is can keep it. @throws {Problem} in_use */
const checkDefaults = async (tx: Db, call: Update, found: ReasonRow, next: ReasonRow) => {
  const moved = next.category_id !== found.category_id;
  for (const category of await listCategoriesByDefaultReason(tx, call.tenantId, found.id)) {
    const role = DEFAULTS.find(
      ({ column, fits }) => category[column] === found.id && !fits.includes(next.visibility),
    );
    if (!moved && role === undefined) continue;
    const use = `The reason ${found.code} is a default reason of the category ${category.code}`;
    call.fail("in_use", `${use} and must stay ${moved ? "where it is" : "visible as it is"}.`);
  }
};

const checkMove = async (tx: Db, call: Update, row: ReasonRow, category: CategoryRow) => {
  const holder = await findReasonByCode(tx, call.tenantId, category.id, row.code);
  if (holder === undefined || holder.id === row.id) return;
  call.fail("duplicate_code", createTaken(category, row.code));
};

const checkUnused = async (tx: Db, call: Call<Contracts["delete"]>, row: ReasonRow) => {
  const [category] = await listCategoriesByDefaultReason(tx, call.tenantId, row.id);
  if (category !== undefined) {
    const use = `The reason ${row.code} is a default reason of the category ${category.code}.`;
    call.fail("in_use", `${use} Give that another one first.`);
  }
  if (!(await isReasonUsed(tx, row))) return;
  call.fail("in_use", `Disputes have the reason ${row.code}. Deactivate it instead.`);
};

const update = async (
  tx: Db,
  call: Update,
  body: Input<Contracts["update"]>["body"],
  found: ReasonRow,
): Promise<ReasonRow> => {
  const category = await resolveCategory(tx, call, body);
  const next = {
    ...found,
    category_id: category.id,
    description: body.description ?? found.description,
    active: flag(body.active ?? found.active === 1),
    visibility: body.visibility ?? found.visibility,
    ...changeFields(found, call),
  };
  await checkDefaults(tx, call, found, next);
  await checkMove(tx, call, next, category);
  return updateReason(tx, next);
};

const list = (call: Call, filter: Parameters<typeof selectReasons>[2]) =>
  readAll(call, (db) => selectReasons(db, call.tenantId, filter), toReason);

/** Lists reasons with their days, which are those of the tenant where a reason has none. */
const listWithDays = async (call: Call, filter: Parameters<typeof selectReasons>[2]) => {
  const { settings } = await readTenant(call.db, call.tenantId);
  const toDated = (row: ReasonRow) => ({
    ...toReason(row),
    disputeDays: row.dispute_days ?? settings.disputeDays,
  });
  return readAll(call, (db) => selectReasons(db, call.tenantId, filter), toDated);
};

/** Handlers of reasons: internal ones, and external ones for a buyer portal. */
export const reasons = ({ newId }: { newId: NewId }): Handlers<Contracts> => ({
  async get({ params: { categoryCode, reasonCode } }, call) {
    return answer(await findReasonAt(call.db, call, categoryCode, reasonCode));
  },

  async get_by_id({ params: { reasonId } }, call) {
    return answer(await reasonWithId(call.db, call, reasonId));
  },

  async list({ query }, call) {
    const filter = { visibility: query.Visibility };
    const read = query.DisputeDays === true ? listWithDays : list;
    return { body: await read(call, filter) };
  },

  async list_by_category({ params, query }, call) {
    const category = await categoryWithCode(call.db, call, params.categoryCode);
    const filter = { categoryId: category.id, visibility: query.Visibility };
    return { body: await list(call, filter) };
  },

  create({ body }, call) {
    return call.change(async (tx) => {
      const category = await resolveCategory(tx, call, body);
      const inserted = await insertReason(tx, {
        tenant_id: call.tenantId,
        id: newId(),
        category_id: category.id,
        code: body.code,
        description: body.description,
        active: flag(body.active ?? true),
        visibility: body.visibility ?? "Internal",
        dispute_days: null,
        ...creationFields(call),
      });
      const row = inserted ?? call.fail("duplicate_code", createTaken(category, body.code));
      return { ...answer(row), createdId: row.id };
    });
  },

  update({ params: { reasonId }, body }, call) {
    return call.change(async (tx) => {
      const found = await reasonWithId(tx, call, reasonId);
      checkIfMatch(call, found);
      return answer(await update(tx, call, body, found));
    });
  },

  delete({ params: { categoryCode, reasonCode } }, call) {
    return call.change(async (tx) => {
      const row = await findReasonAt(tx, call, categoryCode, reasonCode);
      return withResourceId(row.id, async () => {
        checkIfMatch(call, row);
        await checkUnused(tx, call, row);
        await removeReason(tx, row);
        return { body: null };
      });
    });
  },
});
