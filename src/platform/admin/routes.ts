import { Problem } from "../../contract/errors.ts";
import { describeMissing, changeFields, shorten } from "../services/records.ts";
import { findAssigneeByEmail } from "../store/queries/assignees.ts";
import { findCategoryByCode, updateCategory } from "../store/queries/categories.ts";
import type { Db } from "../store/port.ts";
import type { AssigneeRow } from "../store/tables/schema.ts";
import { OPERATOR } from "./changes.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

/** Category and assignee are matched ignoring case. */
type RouteChange = { tenantId: string; category: string; assignee: string };

const findActive = async (tx: Db, { tenantId, assignee }: RouteChange): Promise<AssigneeRow> => {
  const found = await findAssigneeByEmail(tx, tenantId, assignee);
  if (found === undefined) {
    throw new Problem("not_found", describeMissing("assignee", "e-mail address", assignee));
  }
  if (found.active === 1) return found;
  throw new Problem("conflict", `The assignee ${shorten(found.email)} is inactive.`);
};

/** Sets the default assignee of a category's disputes. */
export const setRoute = ({ store, clock, record }: Omit<AdminNeeds, "newId">, route: RouteChange) =>
  store.transaction(async (tx) => {
    const { tenantId } = route;
    await checkTenantExists(tx, tenantId);
    const found = await findCategoryByCode(tx, tenantId, route.category);
    if (found === undefined) {
      throw new Problem("not_found", describeMissing("category", "code", route.category));
    }
    const assignee = await findActive(tx, route);
    await updateCategory(tx, {
      ...found,
      default_assignee_id: assignee.id,
      ...changeFields(found, { caller: OPERATOR, now: clock() }),
    });
    const change = { tenantId, resourceId: found.id, metadata: { assigneeId: assignee.id } };
    await record?.(tx, { ...change, action: "admin.route_set" });
    return { tenantId, categoryCode: found.code, assigneeEmail: assignee.email };
  });
