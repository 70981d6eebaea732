import type { Dice } from "../../support/dice.ts";
import type { Asked } from "../records.ts";
import type { TenantId } from "../settings.ts";

/** The description of a category by its code; null: there is no such category. */
type State = { description: string | null };

export const noCategory: State = { description: null };

export const categoriesOf = (tenantId: TenantId): string =>
  `/dispute/v1/tenants/${tenantId}/categories`;

const shows: Asked<State>["shows"] = (body, { description }) => body.description === description;

/** A request to the category of one code: it is created, read or deleted. */
export const askCategory = (dice: Dice, code: string, tenantId: TenantId): Asked<State> => {
  const path = categoriesOf(tenantId);
  const method = dice.pick(["POST", "POST", "GET", "DELETE"]);
  if (method === "POST") {
    const description = `${tenantId} ${dice.whole(1, 99)}`;
    return {
      method,
      path,
      as: "gateway",
      body: { code, description },
      effect: (before) =>
        before.description === null
          ? { status: 201, after: { description } }
          : { status: 409, after: before },
      shows,
    };
  }
  const isDeleted = method === "DELETE";
  return {
    method,
    path: `${path}/${isDeleted ? "by-code" : "code"}/${code}`,
    as: "gateway",
    effect: (before) =>
      before.description === null
        ? { status: 404, after: before }
        : { status: isDeleted ? 204 : 200, after: isDeleted ? noCategory : before },
    shows,
  };
};
