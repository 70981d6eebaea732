import type { Place } from "../fake.ts";

const CUSTOMERS: Readonly<Partial<Record<Place, string>>> = {
  US: `Cedar Ridge Building Supply|Harbor Point Industrial|Tri-County Hardware Co.|Blue Mesa Electric Supply
Lakeshore Fastener & Tool|Ironwood Contractors Group|Summit Valley Distributors|Keystone Pump & Valve
Prairie Wind Equipment|Redstone Fabrication LLC|Gulf Breeze Marine Supply|Northgate Home Centers
Big Bend Farm & Ranch|Copper Canyon Plumbing|Old Mill Lumber Co.|Stillwater Mechanical
Granite Falls Machine Works|Palmetto Industrial Sales|Twin Rivers Supply|High Plains Irrigation
Millbrook Safety Products|Cape Fear Wholesale|Sawtooth Mountain Outfitters|Riverbend Cabinet Works
Desert Sun HVAC|Buckeye Bearing & Drive|Piedmont Packaging|Delta Crossing Builders
Juniper Street Hardware|Cumberland Gap Supply|Evergreen Process Controls|Foxglove Retail Group
Silver Lake Municipal Services|Badger State Welding|Three Forks Drilling|Mohawk Trail Electric
Beacon Hill Restaurants Supply|Coastal Empire Tools|Ozark Millwork|Tidewater Shipfitters
Wolf Creek Mining Services|Amber Valley Schools Cooperative|Pine Barrens Masonry|Lone Oak Truck Parts`,
  QC: "Quincaillerie du Fleuve inc.|Équipements Laurentides",
  CA: `Maple Junction Hardware Ltd.|Saskatoon Grain Systems|Rideau Mechanical Ltd.
Fundy Marine & Industrial|Kootenay Timber Ltd.|Lakehead Conveyor Corp.`,
  DE: "Nordhafen Werkzeug GmbH|Brennhölz & Söhne KG",
  FR: "Atelier Dubreuil SARL",
  NL: "Van der Kamp Techniek B.V.",
  IT: "Officine Marchetti S.r.l.",
  ES: "Talleres Ibáñez S.L.",
  IE: "Kilbride Engineering Ltd.",
  DK: "Sørby Industri ApS",
};

/** How many branches a customer has that are billed by themselves. */
export const BRANCHES: Readonly<Record<string, number>> = {
  "Northgate Home Centers": 6,
  "Foxglove Retail Group": 5,
  "Harbor Point Industrial": 4,
  "Summit Valley Distributors": 4,
  "Buckeye Bearing & Drive": 4,
  "Evergreen Process Controls": 3,
  "Millbrook Safety Products": 3,
  "Cape Fear Wholesale": 3,
  "Rideau Mechanical Ltd.": 3,
  "Nordhafen Werkzeug GmbH": 3,
  "Twin Rivers Supply": 2,
};

const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/Municipal|Schools/, "Public sector"],
  [/Home Centers|Retail|Hardware|Outfitters|Quincaillerie|Restaurants|Ranch/, "Retail"],
  [/Suppl|Distributors|Wholesale|Sales|Packaging|Products|Fastener|Bearing|Parts/, "Distribution"],
  [
    /Contractors|Builders|Plumbing|HVAC|Electric|Masonry|Welding|Drilling|Mechanical/,
    "Contractors",
  ],
];

export const groupOf = (name: string): string =>
  GROUPS.find(([words]) => words.test(name))?.[1] ?? "Industry";

/** Every customer that is nobody's branch, with its place. */
export const customers = (): (readonly [Place, string])[] =>
  Object.entries(CUSTOMERS).flatMap(([place, names]) =>
    names.split(/[|\n]/).map((name) => [place as Place, name] as const),
  );
