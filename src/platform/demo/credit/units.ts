import type { BusinessUnitGrouping } from "../../../contract/operations/business-units.ts";
import type { Dice } from "../dice.ts";

const GROUPINGS = [
  { name: "Division", values: ["Fasteners & Hardware", "Motion & Power", "Fluid Handling"] },
  { name: "Region", values: ["US East", "US Central", "US West", "Canada", "Europe"] },
] as const;

/** How the tenant divides itself. */
export const groupings = (dice: Dice): BusinessUnitGrouping[] =>
  GROUPINGS.map(({ name, values }) => ({
    businessUnitsId: dice.id(),
    displayName: name,
    businessUnitsValuesList: values.map((displayName) => ({
      businessUnitsValuesId: dice.id(),
      displayName,
    })),
  }));
