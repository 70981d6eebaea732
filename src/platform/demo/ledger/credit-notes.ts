import type { Case } from "../cases.ts";
import type { Dice } from "../dice.ts";
import type { Account } from "./accounts.ts";
import type { Invoice } from "./invoices.ts";
import type { Settlement } from "./settlements.ts";

/** What is owed to a customer, so many days before now. */
export type CreditNote = {
  number: string;
  account: Account;
  invoice: Invoice;
  ageDays: number;
  cents: number;
  about: string;
  /** The claim that it grants. */
  claim: Case | null;
  /** How many days ago it was set off against what the customer owes; null where it was not yet. */
  usedAgeDays: number | null;
};

const FIRST_CREDIT = 7_000;
const ABOUT = ["Volume rebate", "Goods returned", "Price adjustment", "Packaging returned"];
const UNUSED = 0.45;

type Unnumbered = Omit<CreditNote, "number">;

const granted = ({ invoice, entries }: Settlement): Unnumbered[] =>
  entries.flatMap(({ kind, cents, ageDays, claim }) =>
    kind === "credit" && claim !== null
      ? [
          {
            account: invoice.account,
            invoice,
            ageDays,
            cents,
            about: `${claim.reason.description}, invoice ${invoice.number}`,
            claim,
            usedAgeDays: ageDays,
          },
        ]
      : [],
  );

/** Nobody had to argue for it. */
const given = (dice: Dice, { invoice }: Settlement): Unnumbered => {
  const ageDays = dice.whole(1, Math.max(1, invoice.ageDays - 8));
  const used = dice.chance(UNUSED) ? null : ageDays - dice.whole(3, 40);
  return {
    account: invoice.account,
    invoice,
    ageDays,
    cents: Math.max(100, Math.round((invoice.cents * dice.pick([0.01, 0.02, 0.05])) / 100) * 100),
    about: dice.pick(ABOUT),
    claim: null,
    usedAgeDays: used === null || used < 1 ? null : used,
  };
};

/** The credit notes that claims have led to, and as many others as make up a number; numbered in the order of their dates. */
export const creditNotes = (
  dice: Dice,
  settled: readonly Settlement[],
  wanted: number,
): CreditNote[] => {
  const forClaims = settled.flatMap(granted);
  const paid = settled.filter(({ entries }) => entries.length > 0 && entries[0]?.claim === null);
  const others = dice
    .shuffle(paid)
    .slice(0, Math.max(0, wanted - forClaims.length))
    .map((one) => given(dice, one));
  let number = FIRST_CREDIT;
  return [...forClaims, ...others]
    .toSorted((one, other) => other.ageDays - one.ageDays)
    .map((note) => ({ number: `CM-${(number += dice.whole(1, 9))}`, ...note }));
};

/** A corrected invoice in the place of each that was credited whole for it. */
export const rebills = (settled: readonly Settlement[]): Invoice[] =>
  settled.flatMap(({ invoice, entries }) => {
    const { account, number, cents } = invoice;
    const credit = entries.find(
      (entry) => entry.claim?.resolution === "REBILLED" && entry.cents === cents,
    );
    if (credit === undefined) return [];
    const poNumber = invoice.poNumber ?? `${account.poPrefix}${number.slice(-account.poDigits)}`;
    return [{ ...invoice, number: `${number}-R`, ageDays: credit.ageDays, poNumber }];
  });
