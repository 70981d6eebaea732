import type { Contract } from "../../contract/index.ts";
import type { BusinessUnitGrouping } from "../../contract/operations/business-units.ts";
import type { Handlers } from "../handlers.ts";
import { listBusinessUnits } from "../store/queries/business-units.ts";
import type { BusinessUnitRow } from "../store/tables/schema.ts";

type Values = BusinessUnitGrouping["businessUnitsValuesList"];

/** Converts a row to a grouping. */
export const toGrouping = (row: BusinessUnitRow): BusinessUnitGrouping => ({
  businessUnitsId: row.id,
  displayName: row.display_name,
  businessUnitsValuesList: JSON.parse(row.value_list) as Values,
});

/** Converts a grouping to a row. */
export const toGroupingRow = (
  tenantId: string,
  grouping: BusinessUnitGrouping,
): BusinessUnitRow => ({
  tenant_id: tenantId,
  id: grouping.businessUnitsId,
  display_name: grouping.displayName,
  value_list: JSON.stringify(grouping.businessUnitsValuesList),
});

export const business_units = (): Handlers<Contract["business_units"]> => ({
  list: async (_input, call) => ({
    body: (await listBusinessUnits(call.db, call.tenantId)).map(toGrouping),
  }),
});
