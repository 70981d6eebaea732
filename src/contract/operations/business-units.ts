import { z } from "zod";
import { tenantPath } from "../fields.ts";
import { defineOperations } from "../operation.ts";

export const BusinessUnitValue = z.object({
  businessUnitsValuesId: z.string(),
  displayName: z.string(),
});

/** A grouping of business units; credit applications refer to its values. */
export const BusinessUnitGrouping = z.object({
  businessUnitsId: z.string(),
  displayName: z.string(),
  businessUnitsValuesList: z.array(BusinessUnitValue),
});
export type BusinessUnitGrouping = z.infer<typeof BusinessUnitGrouping>;

const VALUES = "/api/v1/tenants/{tenantId}/businessunits/values";

export const business_units = defineOperations("gateway", "business_units", {
  list: {
    method: "GET",
    path: `/creditappcore${VALUES}`,
    // The interface documents use both paths.
    aliases: [{ method: "GET", path: `/creditapp${VALUES}` }],
    access: "Credit Applications : READ",
    summary: "List business unit groupings with their values.",
    params: z.object(tenantPath),
    output: z.array(BusinessUnitGrouping),
    audit: "business_unit.listed",
  },
});
