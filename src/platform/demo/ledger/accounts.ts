import type { Address } from "../../../contract/ingest-fields.ts";
import type { Dice } from "../dice.ts";
import type { Fake, Name, Place } from "../fake.ts";
import { BRANCHES, customers } from "./customers.ts";

export type Currency = "USD" | "CAD" | "EUR";

export type Terms = { name: string; days: number; discount?: { days: number; rate: number } };

/** A customer as its supplier's ledger knows it. */
export type Account = {
  number: string;
  name: string;
  place: Place;
  currency: Currency;
  parent: Account | null;
  hasBranches: boolean;
  address: Address;
  phone: string | undefined;
  /** Where its mail arrives. */
  domain: string;
  /** The people there who write and call. */
  contacts: readonly Name[];
  /** How the customer numbers its purchase orders. */
  poPrefix: string;
  poDigits: number;
  /** Cents of a usual invoice. */
  usualCents: number;
  terms: Terms;
  /** By how much it usually pays late; early where below 0. */
  daysLate: number;
  /** How much rather than others it disputes what it gets. */
  quarrels: number;
  /** It pays once in seven days, all that is due then. */
  payDay: number;
  taxRate: number;
};

const PO_PREFIXES = ["", "", "45", "77-", "HQ-", "P", "W-"];

const NET_30: Terms = { name: "Net 30", days: 30 };
const TERMS: readonly (readonly [Terms, number])[] = [
  [NET_30, 12],
  [{ name: "2% 10, Net 30", days: 30, discount: { days: 10, rate: 0.02 } }, 4],
  [{ name: "Net 45", days: 45 }, 3],
  [{ name: "Net 60", days: 60 }, 2],
  [{ name: "Net 15", days: 15 }, 1],
];

// Most pay in time; a few hold nearly all that is late.
const LATENESS: readonly (readonly [readonly [number, number], number])[] = [
  [[-9, -1], 55],
  [[0, 7], 27],
  [[8, 20], 13],
  [[21, 38], 5],
];

const QUARRELS: readonly (readonly [number, number])[] = [
  [0.4, 35],
  [1, 40],
  [2, 20],
  [4, 5],
];

const TAX_RATES = [0.055, 0.0575, 0.0725, 0.0825];
const HST = 0.13;
const QST_AND_GST = 0.14975;
const TAXED_IN_US = 0.35;

const currencyOf = (place: Place): Currency => {
  if (place === "US") return "USD";
  return place === "CA" || place === "QC" ? "CAD" : "EUR";
};

const taxRateOf = (dice: Dice, place: Place): number => {
  const rate = dice.pick(TAX_RATES);
  const taxed = dice.chance(TAXED_IN_US);
  if (place === "CA") return HST;
  if (place === "QC") return QST_AND_GST;
  return place === "US" && taxed ? rate : 0;
};

const plain = (text: string): string =>
  text
    .replaceAll("ø", "o")
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");

type Making = { dice: Dice; fake: Fake };

const habitsOf = (dice: Dice) => {
  const [from, to] = dice.weigh(LATENESS);
  return {
    terms: dice.weigh(TERMS),
    daysLate: dice.whole(from, to),
    quarrels: dice.weigh(QUARRELS),
    payDay: dice.whole(0, 6),
  };
};

const customer = ({ dice, fake }: Making, name: string, place: Place): Account => ({
  number: "",
  name,
  place,
  currency: currencyOf(place),
  parent: null,
  hasBranches: name in BRANCHES,
  address: fake.address(place),
  phone: fake.phone(place),
  domain: `${plain(name)}.example`,
  contacts: [fake.name(place), fake.name(place)],
  poPrefix: dice.pick(PO_PREFIXES),
  poDigits: dice.whole(4, 6),
  usualCents: Math.round(dice.longTail(780_000, 0.6)),
  ...habitsOf(dice),
  taxRate: taxRateOf(dice, place),
});

const BRANCH_BUYS = 0.6;

/** Buys, writes and pays as its parent does, from a place of its own. */
const branch = ({ dice, fake }: Making, parent: Account): Account => {
  const address = fake.address(parent.place);
  return {
    ...parent,
    name: `${parent.name} - ${address.city}`,
    parent,
    hasBranches: false,
    address,
    phone: fake.phone(parent.place),
    contacts: [fake.name(parent.place), ...parent.contacts.slice(0, 1)],
    usualCents: Math.round(parent.usualCents * BRANCH_BUYS * (0.5 + dice.share())),
    daysLate: parent.daysLate + dice.whole(-2, 4),
  };
};

const FIRST_ACCOUNT = 10_400;

/** The tenant's customers, each parent before its branches. */
export const accounts = (making: Making): Account[] => {
  const { dice } = making;
  let number = FIRST_ACCOUNT;
  const numbered = (account: Account): Account => ({
    ...account,
    number: `C-${(number += dice.whole(1, 19))}`,
  });
  return customers().flatMap(([place, name]) => {
    const parent = numbered(customer(making, name, place));
    const branches = Array.from({ length: BRANCHES[name] ?? 0 }, () =>
      numbered(branch(making, parent)),
    );
    return [parent, ...branches];
  });
};

export const contactMail = ({ domain }: Account, { firstName, lastName }: Name): string =>
  `${plain(firstName)}.${plain(lastName)}@${domain}`;
