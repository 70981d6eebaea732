import type { Contract } from "../../contract/index.ts";
import type { Department } from "../../contract/operations/departments.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Call, Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  findDepartment,
  findDepartmentByCode,
  hasAssignees,
  insertDepartment,
  selectDepartments,
  removeDepartment,
  updateDepartment,
} from "../store/queries/departments.ts";
import type { Db } from "../store/port.ts";
import type { DepartmentRow } from "../store/tables/schema.ts";
import {
  auditFields,
  changeFields,
  createAnswer,
  createFinder,
  creationFields,
  withResourceId,
} from "./records.ts";
import { readAll } from "./listing.ts";

const toDepartment = (row: DepartmentRow): Department => ({
  departmentId: row.id,
  tenantId: row.tenant_id,
  code: row.code,
  description: row.description,
  ...auditFields(row),
});

const answer = createAnswer(toDepartment);

const departmentWithId = createFinder("department", "id", findDepartment);
export const departmentWithCode = createFinder("department", "code", findDepartmentByCode);

const remove = (tx: Db, row: DepartmentRow, call: Call<Contract["departments"]["delete"]>) =>
  withResourceId(row.id, async () => {
    checkIfMatch(call, row);
    if (await hasAssignees(tx, row)) {
      return call.fail("in_use", `The department ${row.code} has assignees. Move them first.`);
    }
    await removeDepartment(tx, row);
    return { body: null };
  });

/** Handlers of departments: the groups of assignees. */
export const departments = ({ newId }: { newId: NewId }): Handlers<Contract["departments"]> => ({
  async get({ params: { departmentCode } }, call) {
    return answer(await departmentWithCode(call.db, call, departmentCode));
  },

  async get_by_id({ params: { departmentId } }, call) {
    return answer(await departmentWithId(call.db, call, departmentId));
  },

  async list(_input, call) {
    return {
      body: await readAll(call, (db) => selectDepartments(db, call.tenantId), toDepartment),
    };
  },

  create({ body: { code, description } }, call) {
    const record = {
      tenant_id: call.tenantId,
      id: newId(),
      code,
      description,
      ...creationFields(call),
    };
    return call.change(async (tx) => {
      const row =
        (await insertDepartment(tx, record)) ??
        call.fail("duplicate_code", `A department has the code ${code} already.`);
      return { ...answer(row), createdId: row.id };
    });
  },

  async update({ params: { departmentId }, body }, call) {
    return call.change(async (tx) => {
      const found = await departmentWithId(tx, call, departmentId);
      checkIfMatch(call, found);
      const description = body.description ?? found.description;
      return answer(
        await updateDepartment(tx, { ...found, description, ...changeFields(found, call) }),
      );
    });
  },

  delete({ params: { departmentId } }, call) {
    return call.change(async (tx) =>
      remove(tx, await departmentWithId(tx, call, departmentId), call),
    );
  },

  delete_by_code({ params: { departmentCode } }, call) {
    return call.change(async (tx) =>
      remove(tx, await departmentWithCode(tx, call, departmentCode), call),
    );
  },
});
