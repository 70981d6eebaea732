import { Problem } from "../../contract/errors.ts";
import { changeFields, describeMissing } from "../services/records.ts";
import { toReason } from "../services/reasons.ts";
import { findCategoryByCode } from "../store/queries/categories.ts";
import { findReasonByCode, updateReason } from "../store/queries/reasons.ts";
import { OPERATOR } from "./changes.ts";
import { type AdminNeeds, checkTenantExists, parseDays } from "./tenants.ts";

type Setting = { tenantId: string; category: string; code: string; days: string };

/**
 * Sets the days within which disputes with a reason are to be decided; `none` leaves those of the tenant.
 *
 * @throws {Problem} not_found, invalid_request
 */
export const setReasonDays = (
  { store, clock, record }: Omit<AdminNeeds, "newId">,
  { tenantId, category, code, days }: Setting,
) =>
  store.transaction(async (tx) => {
    await checkTenantExists(tx, tenantId);
    const disputeDays = parseDays("--days", days);
    const group = await findCategoryByCode(tx, tenantId, category);
    if (group === undefined) {
      throw new Problem("not_found", describeMissing("category", "code", category));
    }
    const found = await findReasonByCode(tx, tenantId, group.id, code);
    if (found === undefined) {
      throw new Problem(
        "not_found",
        describeMissing(`reason in the category ${group.code}`, "code", code),
      );
    }
    const row = await updateReason(tx, {
      ...found,
      dispute_days: disputeDays,
      ...changeFields(found, { caller: OPERATOR, now: clock() }),
    });
    const change = { tenantId, resourceId: row.id, metadata: { disputeDays } };
    await record?.(tx, { ...change, action: "admin.reason_set" });
    return { ...toReason(row), disputeDays };
  });
