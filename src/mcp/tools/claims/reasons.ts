import type { Fault } from "../../../contract/errors.ts";
import type { Reason } from "../../../contract/operations/reasons.ts";
import { fold } from "../../../insights/dispute-names.ts";
import type { Part } from "../../../insights/read-part.ts";
import type { Claim } from "../../../../tools/dispute-operations.ts";

/** The two reasons of a dispute, by the arguments that name them. */
const SIDES = [
  { id: "reasonId", code: "reasonCode" },
  { id: "externalReasonId", code: "externalReasonCode" },
] as const;
type Side = (typeof SIDES)[number];

const hasCategory = ({ categoryId }: Claim, reason: Reason): boolean =>
  categoryId === undefined || reason.categoryId === categoryId;

/** Returns the reasons that one side of a claim may mean. */
const listMeant = (claim: Claim, side: Side, reasons: readonly Reason[]): readonly Reason[] => {
  const { [side.id]: id, [side.code]: code } = claim;
  if (id !== undefined) return reasons.filter(({ reasonId }) => reasonId === id);
  return code === undefined
    ? []
    : reasons.filter((one) => fold(one.code) === fold(code) && hasCategory(claim, one));
};

const isNamed = (claim: Claim, { id, code }: Side): boolean =>
  claim[id] !== undefined || claim[code] !== undefined;

const findSideFault = (claim: Claim, side: Side, reasons: readonly Reason[]): Fault[] => {
  if (!isNamed(claim, side)) return [];
  const field = claim[side.id] === undefined ? side.code : side.id;
  const [first, ...others] = listMeant(claim, side, reasons);
  if (first === undefined) {
    return [{ field, code: "unknown_reference", message: "names no reason" }];
  }
  if (others.length > 0) {
    // The platform knows the codes of categories.
    if (claim.categoryCode !== undefined) return [];
    const message = `exists in ${others.length + 1} categories; send categoryId or categoryCode too`;
    return [{ field, code: "ambiguous", message }];
  }
  return first.active ? [] : [{ field, code: "inactive", message: "names an inactive reason" }];
};

/** Finds what is wrong with the reasons of a claim. */
export const findReasonFaults = (claim: Claim, part: Part<readonly Reason[]>): Fault[] => {
  if (!SIDES.some((side) => isNamed(claim, side))) {
    const message = "is required unless another reason is sent, by code or id";
    return [{ field: "reasonCode", code: "required", message }];
  }
  if (part.refused !== undefined) return [];
  return SIDES.flatMap((side) => findSideFault(claim, side, part.value));
};

/** Returns a claim with the ids of reasons in place of their codes, and the reason to show. */
export const bindReasons = (
  claim: Claim,
  part: Part<readonly Reason[]>,
): { bound: Claim; shown: Reason | undefined } => {
  const reasons = part.refused === undefined ? part.value : [];
  let bound = claim;
  let shown: Reason | undefined;
  for (const side of SIDES) {
    const [only, ...others] = listMeant(claim, side, reasons);
    if (only === undefined || others.length > 0) continue;
    bound = { ...bound, [side.id]: only.reasonId, [side.code]: undefined };
    shown ??= only;
  }
  return { bound, shown };
};
