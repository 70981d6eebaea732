import type { Dice } from "./dice.ts";

/** A customer as its supplier's ledger knows it. */
export type Account = {
  number: string;
  name: string;
  currency: "USD" | "CAD" | "EUR";
  /** The people there who write and call. */
  contacts: readonly string[];
  /** How the customer numbers its purchase orders. */
  poPrefix: string;
  poDigits: number;
  /** Cents of a usual invoice. */
  usualCents: number;
};

/** An invoice, as old as it is in days before now. */
export type Invoice = {
  number: string;
  account: Account;
  cents: number;
  poNumber: string | null;
  ageDays: number;
};

const CUSTOMERS: readonly (readonly [Account["currency"], string])[] = [
  [
    "USD",
    `Cedar Ridge Building Supply|Harbor Point Industrial|Tri-County Hardware Co.|Blue Mesa Electric Supply
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
  ],
  [
    "CAD",
    `Quincaillerie du Fleuve inc.|Maple Junction Hardware Ltd.|Saskatoon Grain Systems|Rideau Mechanical Ltd.
Fundy Marine & Industrial|Équipements Laurentides|Kootenay Timber Ltd.|Lakehead Conveyor Corp.`,
  ],
  [
    "EUR",
    `Nordhafen Werkzeug GmbH|Brennhölz & Söhne KG|Atelier Dubreuil SARL|Van der Kamp Techniek B.V.
Officine Marchetti S.r.l.|Talleres Ibáñez S.L.|Kilbride Engineering Ltd.|Sørby Industri ApS`,
  ],
];

const CONTACTS = `Dana|Marcus|Yolanda|Rick|Stephanie|Andre|Joanne|Paul|Tamika|Glenn|Rosa|Wendy|Ahmed|Colleen
Derek|Mei|Frank|Lucia|Beth|Hector|Irene|Todd|Nadia|Walt|Sophie|Jean-Marc|Ingrid|Matteo`;

const split = (text: string): string[] => text.split(/[|\n]/);

const PO_PREFIXES = ["", "", "45", "77-", "HQ-", "P", "W-"];
const FIRST_ACCOUNT = 10_400;
const FIRST_INVOICE = 5_100_000;

const accountOf = (
  dice: Dice,
  number: number,
  name: string,
  currency: Account["currency"],
): Account => ({
  number: `C-${number}`,
  name,
  currency,
  contacts: [dice.pick(split(CONTACTS)), dice.pick(split(CONTACTS))],
  poPrefix: dice.pick(PO_PREFIXES),
  poDigits: dice.whole(4, 6),
  usualCents: Math.round(dice.longTail(780_000, 0.6)),
});

/** The tenant's customers, the busiest first. */
export const accounts = (dice: Dice): Account[] => {
  let number = FIRST_ACCOUNT;
  const all = CUSTOMERS.flatMap(([currency, names]) =>
    split(names).map((name) => accountOf(dice, (number += dice.whole(1, 19)), name, currency)),
  );
  return dice.shuffle(all);
};

const poNumber = (dice: Dice, account: Account): string | null => {
  if (dice.chance(0.06)) return null;
  const least = 10 ** (account.poDigits - 1);
  return `${account.poPrefix}${dice.whole(least, least * 10 - 1)}`;
};

const SMALLEST = 18_000;
const LARGEST = 38_000_000;

/** One invoice for each age asked, numbered in the order of their dates. */
export const invoices = (
  dice: Dice,
  customers: readonly Account[],
  agesInDays: readonly number[],
): Invoice[] => {
  // A few customers buy most of what is sold.
  const busy = customers.map((account, rank) => [account, 1 / (rank + 4)] as const);
  const undated = agesInDays.map((ageDays, place) => {
    const account = dice.weigh(busy);
    const cents = Math.round(dice.longTail(account.usualCents, 1.15));
    return {
      place,
      account,
      ageDays,
      cents: Math.min(LARGEST, Math.max(SMALLEST, cents)),
      poNumber: poNumber(dice, account),
    };
  });
  let number = FIRST_INVOICE;
  return undated
    .toSorted((one, other) => other.ageDays - one.ageDays || one.place - other.place)
    .map((invoice) => ({ ...invoice, number: String((number += dice.whole(7, 163))) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ place: _place, ...invoice }) => invoice);
};
