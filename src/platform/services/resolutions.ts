import type { z } from "zod";
import type { Contract } from "../../contract/index.ts";
import type { Resolution } from "../../contract/operations/resolutions.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Call, Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import type { Db } from "../store/port.ts";
import {
  findResolution,
  findResolutionByCode,
  insertResolution,
  isResolutionUsed,
  selectResolutions,
  removeResolution,
  updateResolution,
} from "../store/queries/resolutions.ts";
import type { ResolutionRow } from "../store/tables/schema.ts";
import {
  auditFields,
  changeFields,
  createAnswer,
  createFinder,
  flag,
  creationFields,
  withResourceId,
} from "./records.ts";
import { readAll } from "./listing.ts";

export const toResolution = (row: ResolutionRow): Resolution => ({
  resolutionId: row.id,
  tenantId: row.tenant_id,
  code: row.code,
  description: row.description,
  active: row.active === 1,
  isValid: row.is_valid === 1,
  applyWhenInvoiceClosed: row.apply_when_invoice_closed === 1,
  ...auditFields(row),
});

const answer = createAnswer(toResolution);

const resolutionWithId = createFinder("resolution", "id", findResolution);
const resolutionWithCode = createFinder("resolution", "code", findResolutionByCode);

const remove = (tx: Db, row: ResolutionRow, call: Call<Contract["resolutions"]["delete"]>) =>
  withResourceId(row.id, async () => {
    checkIfMatch(call, row);
    if (await isResolutionUsed(tx, row)) {
      const use = `Disputes were closed with the resolution ${row.code}.`;
      return call.fail("in_use", `${use} Deactivate it instead.`);
    }
    await removeResolution(tx, row);
    return { body: null };
  });

const applyBody = (
  found: ResolutionRow,
  { description, active, isValid }: z.output<Contract["resolutions"]["update"]["body"]>,
): ResolutionRow => ({
  ...found,
  description: description ?? found.description,
  active: flag(active ?? found.active === 1),
  is_valid: flag(isValid ?? found.is_valid === 1),
});

/** Handlers of resolutions: the outcomes that disputes are closed with. */
export const resolutions = ({ newId }: { newId: NewId }): Handlers<Contract["resolutions"]> => ({
  async get({ params: { resolutionCode } }, call) {
    return answer(await resolutionWithCode(call.db, call, resolutionCode));
  },

  async get_by_id({ params: { resolutionId } }, call) {
    return answer(await resolutionWithId(call.db, call, resolutionId));
  },

  async list(_input, call) {
    return {
      body: await readAll(call, (db) => selectResolutions(db, call.tenantId), toResolution),
    };
  },

  create({ body: { code, description, active, isValid } }, call) {
    const record = {
      tenant_id: call.tenantId,
      id: newId(),
      code,
      description,
      active: flag(active ?? true),
      is_valid: flag(isValid ?? false),
      apply_when_invoice_closed: flag(false),
      ...creationFields(call),
    };
    return call.change(async (tx) => {
      const row =
        (await insertResolution(tx, record)) ??
        call.fail("duplicate_code", `A resolution has the code ${code} already.`);
      return { ...answer(row), createdId: row.id };
    });
  },

  async update({ params: { resolutionId }, body }, call) {
    return call.change(async (tx) => {
      const found = await resolutionWithId(tx, call, resolutionId);
      checkIfMatch(call, found);
      const next = { ...applyBody(found, body), ...changeFields(found, call) };
      return answer(await updateResolution(tx, next));
    });
  },

  delete({ params: { resolutionId } }, call) {
    return call.change(async (tx) =>
      remove(tx, await resolutionWithId(tx, call, resolutionId), call),
    );
  },

  delete_by_code({ params: { resolutionCode } }, call) {
    return call.change(async (tx) =>
      remove(tx, await resolutionWithCode(tx, call, resolutionCode), call),
    );
  },
});
