import type { Contract } from "../../contract/index.ts";
import type { Input } from "../../contract/operation.ts";
import type { Assignee } from "../../contract/operations/assignees.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Call, Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  findAssignee,
  findAssigneeByEmail,
  findMember,
  insertAssignee,
  isAssigneeNamed,
  selectAssignees,
  removeAssignee,
  updateAssignee,
} from "../store/queries/assignees.ts";
import { findCategoryByDefaultAssignee } from "../store/queries/categories.ts";
import { findDepartment, findDepartmentByCode } from "../store/queries/departments.ts";
import type { Db } from "../store/port.ts";
import type { AssigneeRow, DepartmentRow } from "../store/tables/schema.ts";
import { departmentWithCode } from "./departments.ts";
import { changePersonColumns, createPersonColumns, toPerson } from "./person.ts";
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
  shorten,
} from "./records.ts";
import { readAll } from "./listing.ts";

type Contracts = Contract["assignees"];
type Body = Input<Contracts["create"]>["body"];

const toAssignee = (row: AssigneeRow): Assignee => ({
  id: row.id,
  assigneeId: row.id,
  departmentId: row.department_id,
  active: row.active === 1,
  tenantId: row.tenant_id,
  userId: row.user_id,
  allUpdates: row.all_updates === 1,
  dailyDigest: row.daily_digest === 1,
  person: toPerson(row),
  ...auditFields(row),
});

const answer = createAnswer(toAssignee);

const resolveDepartment = (tx: Db, call: Asking, body: Body): Promise<DepartmentRow> =>
  findNamed(tx, call, {
    noun: "department",
    id: body.departmentId,
    code: body.departmentCode,
    find: { byId: findDepartment, byCode: findDepartmentByCode },
  });

const resolveMember = async (tx: Db, call: Asking, { userId }: Body) => {
  if (userId === undefined || userId === null) return undefined;
  return (
    (await findMember(tx, call.tenantId, userId)) ??
    call.refuse("userId", "unknown_reference", "names no user of the tenant")
  );
};

const assigneeWithId = createFinder("assignee", "id", findAssignee);
const assigneeWithEmail = createFinder("assignee", "e-mail address", findAssigneeByEmail);

const createTaken = (email: string): string =>
  `An assignee has the e-mail address ${shorten(email)} already.`;

const create = async (tx: Db, call: Call<Contracts["create"]>, body: Body, id: string) => {
  const department = await resolveDepartment(tx, call, body);
  const member = await resolveMember(tx, call, body);
  const record = {
    tenant_id: call.tenantId,
    id,
    department_id: department.id,
    user_id: member?.id ?? null,
    ...createPersonColumns(call, body.person ?? {}, member),
    active: flag(body.active ?? true),
    all_updates: flag(body.allUpdates ?? false),
    daily_digest: flag(body.dailyDigest ?? false),
    ...creationFields(call),
  };
  return (await insertAssignee(tx, record)) ?? call.fail("conflict", createTaken(record.email));
};

const update = async (tx: Db, call: Call<Contracts["update"]>, body: Body, found: AssigneeRow) => {
  const department = await resolveDepartment(tx, call, body);
  const member = await resolveMember(tx, call, body);
  const next = {
    ...found,
    department_id: department.id,
    user_id: body.userId === undefined ? found.user_id : (member?.id ?? null),
    ...changePersonColumns(call, body.person ?? {}, found),
    active: flag(body.active ?? found.active === 1),
    all_updates: flag(body.allUpdates ?? found.all_updates === 1),
    daily_digest: flag(body.dailyDigest ?? found.daily_digest === 1),
    ...changeFields(found, call),
  };
  const holder = await findAssigneeByEmail(tx, call.tenantId, next.email);
  if (holder !== undefined && holder.id !== found.id)
    call.fail("conflict", createTaken(next.email));
  return updateAssignee(tx, next);
};

const remove = (tx: Db, call: Call<Contracts["delete"]>, row: AssigneeRow) =>
  withResourceId(row.id, async () => {
    checkIfMatch(call, row);
    const who = `The assignee ${shorten(row.email)}`;
    if (await isAssigneeNamed(tx, row)) {
      call.fail("in_use", `${who} is named by disputes. Deactivate it instead.`);
    }
    const category = await findCategoryByDefaultAssignee(tx, call.tenantId, row.id);
    if (category !== undefined) {
      call.fail("in_use", `${who} gets the disputes of the category ${category.code}.`);
    }
    await removeAssignee(tx, row);
    return { body: null };
  });

/** Handlers of assignees: the people who work disputes. */
export const assignees = ({ newId }: { newId: NewId }): Handlers<Contracts> => ({
  async get({ params: { assigneeEmail } }, call) {
    return answer(await assigneeWithEmail(call.db, call, assigneeEmail));
  },

  async get_by_id({ params: { assigneeId } }, call) {
    return answer(await assigneeWithId(call.db, call, assigneeId));
  },

  async list({ query: { DepartmentId } }, call) {
    const select = (db: Db) => selectAssignees(db, call.tenantId, DepartmentId);
    return { body: await readAll(call, select, toAssignee) };
  },

  create({ body }, call) {
    return call.change(async (tx) => {
      const row = await create(tx, call, body, newId());
      return { ...answer(row), createdId: row.id };
    });
  },

  async update({ params: { assigneeEmail }, body }, call) {
    return call.change(async (tx) => {
      const found = await assigneeWithEmail(tx, call, assigneeEmail);
      return withResourceId(found.id, async () => {
        checkIfMatch(call, found);
        return answer(await update(tx, call, body, found));
      });
    });
  },

  delete({ params: { assigneeId } }, call) {
    return call.change(async (tx) => remove(tx, call, await assigneeWithId(tx, call, assigneeId)));
  },

  delete_by_email({ params: { departmentCode, assigneeEmail } }, call) {
    return call.change(async (tx) => {
      const department = await departmentWithCode(tx, call, departmentCode);
      const row = await assigneeWithEmail(tx, call, assigneeEmail);
      if (row.department_id === department.id) return remove(tx, call, row);
      const place = `assignee in the department ${department.code}`;
      return call.fail("not_found", describeMissing(place, "e-mail address", assigneeEmail));
    });
  },
});
