import type { Contract } from "../../../contract/index.ts";
import type { Input } from "../../../contract/operation.ts";
import type { Call } from "../../handlers.ts";
import { fold } from "../../store/engine/fold.ts";
import type { Db } from "../../store/port.ts";
import {
  type CategorizedReason,
  findCategorizedReason,
  findReason,
  listReasonsByCode,
} from "../../store/queries/reasons.ts";
import type { ReasonRow } from "../../store/tables/schema.ts";

type Body = Pick<
  Input<Contract["disputes"]["create"]>["body"],
  | "reasonId"
  | "reasonCode"
  | "externalReasonId"
  | "externalReasonCode"
  | "categoryId"
  | "categoryCode"
>;
type DisputeCall = Call<Contract["disputes"]["create"]>;
type Side = { name: "reason" | "externalReason"; closedTo: ReasonRow["visibility"] };

const INTERNAL: Side = { name: "reason", closedTo: "External" };
const EXTERNAL: Side = { name: "externalReason", closedTo: "Internal" };

const findByCode = async (
  tx: Db,
  call: DisputeCall,
  side: Side,
  code: string,
  body: Body,
): Promise<CategorizedReason> => {
  const field = `${side.name}Code`;
  const all = await listReasonsByCode(tx, call.tenantId, code);
  const found = all.filter(
    (reason) =>
      (body.categoryId === undefined || reason.category_id === body.categoryId) &&
      (body.categoryCode === undefined || reason.category_code === fold(body.categoryCode)),
  );
  const [first] = found;
  if (first === undefined) return call.refuse(field, "unknown_reference", "names no reason");
  if (found.length > 1) {
    return call.fail(
      "ambiguous_reason_code",
      `${field} exists in ${found.length} categories. Send categoryId or categoryCode too, or the reason's id.`,
    );
  }
  return first;
};

const resolve = async (
  tx: Db,
  call: DisputeCall,
  side: Side,
  body: Body,
): Promise<CategorizedReason | undefined> => {
  const id = body[`${side.name}Id`];
  const code = body[`${side.name}Code`];
  if (id === undefined)
    return code === undefined ? undefined : findByCode(tx, call, side, code, body);
  const field = `${side.name}Id`;
  const found = await findCategorizedReason(tx, call.tenantId, id);
  if (found === undefined) return call.refuse(field, "unknown_reference", "names no reason");
  if (code !== undefined && found.code_folded !== fold(code)) {
    call.refuse(`${side.name}Code`, "conflict", `is not the code of ${field}`);
  }
  return found;
};

const checkUsable = (
  call: DisputeCall,
  side: Side,
  body: Body,
  reason: CategorizedReason | undefined,
  current: string | null,
): void => {
  if (reason === undefined || reason.id === current) return;
  const field = body[`${side.name}Id`] === undefined ? `${side.name}Code` : `${side.name}Id`;
  if (reason.active === 0) call.refuse(field, "inactive", "names an inactive reason");
  if (reason.visibility === side.closedTo) {
    call.refuse(field, "visibility", `names a reason that is ${reason.visibility} only`);
  }
};

export type ChosenReasons = {
  reasonId: string;
  categoryId: string;
  externalReasonId: string | null;
};

const NONE = { internal: null, external: null };

/**
 * Returns the internal and external reason that a body names, undefined where it names none.
 * An external reason without an internal one implies its category's default internal reason.
 * `kept` are the reasons that the dispute has already; they stay valid although they may be inactive by now.
 */
export const chooseReasons = async (
  tx: Db,
  call: DisputeCall,
  body: Body,
  current: { internal: string | null; external: string | null } = NONE,
): Promise<ChosenReasons | undefined> => {
  const external = await resolve(tx, call, EXTERNAL, body);
  const internal = await resolve(tx, call, INTERNAL, body);
  checkUsable(call, EXTERNAL, body, external, current.external);
  checkUsable(call, INTERNAL, body, internal, current.internal);
  const isNew = external !== undefined && external.id !== current.external;
  if (isNew && external.default_internal_reason_id === null) {
    call.refuse(
      "externalReasonId",
      "conflict",
      "is in a category without a default internal reason",
    );
  }
  if (internal !== undefined) {
    return {
      reasonId: internal.id,
      categoryId: internal.category_id,
      externalReasonId: external?.id ?? null,
    };
  }
  if (!isNew) return undefined;
  const { default_internal_reason_id: id } = external;
  const fallback = id === null ? undefined : await findReason(tx, call.tenantId, id);
  if (fallback === undefined) throw new Error("a category's default reason does not exist");
  return {
    reasonId: fallback.id,
    categoryId: fallback.category_id,
    externalReasonId: external.id,
  };
};
