import type { BusinessUnitGrouping } from "../../../contract/operations/business-units.ts";
import type { Dice } from "../dice.ts";
import type { Account } from "../ledger/accounts.ts";

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

const EAST = /^(CT|DC|DE|FL|GA|IN|KY|MA|MD|ME|MI|NC|NH|NJ|NY|OH|PA|RI|SC|TN|VA|VT|WV)$/;
const WEST = /^(AK|AZ|CA|CO|HI|ID|MT|NM|NV|OR|UT|WA|WY)$/;

const regionOf = ({ currency, address: { state = "" } }: Account): string => {
  if (currency === "EUR") return "Europe";
  if (currency === "CAD") return "Canada";
  if (EAST.test(state)) return "US East";
  return WEST.test(state) ? "US West" : "US Central";
};

/** The values that are an account's: its region, and a division that it buys from. */
export const unitsOf =
  (dice: Dice, [divisions, regions]: readonly BusinessUnitGrouping[]) =>
  (account: Account): string[] => {
    const division = dice.pick(divisions?.businessUnitsValuesList ?? []);
    const region = regions?.businessUnitsValuesList.find(
      ({ displayName }) => displayName === regionOf(account),
    );
    return [division, region].flatMap((unit) => unit?.businessUnitsValuesId ?? []);
  };
