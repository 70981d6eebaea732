import { type Case, cases, courses } from "../cases.ts";
import type { Dice } from "../dice.ts";
import type { Fake } from "../fake.ts";
import { type Account, accounts } from "./accounts.ts";
import { type Charge, charges } from "./charges.ts";
import { type CreditNote, creditNotes, rebills } from "./credit-notes.ts";
import { buyers, invoices } from "./invoices.ts";
import { type Settlement, settlements } from "./settlements.ts";

/** What customers bought, what they claim of it, and what has become of both. */
export type Ledger = {
  accounts: readonly Account[];
  cases: readonly Case[];
  settlements: readonly Settlement[];
  creditNotes: readonly CreditNote[];
  charges: readonly Charge[];
};

const DOCUMENTS = 2_000;
const INVOICES = 1_870;
const CHARGES = 12;
const DAYS = 395;

// Sales grow by a quarter in a year.
const age = (dice: Dice): number => Math.floor(dice.share() ** 1.15 * DAYS);

export const createLedger = (dice: Dice, fake: Fake): Ledger => {
  const customers = accounts({ dice, fake });
  const { usual, disputing } = buyers(dice, customers);
  const first = courses(dice);
  const billed = invoices(dice, [
    ...first.map((course) => ({
      ageDays: course.ageDays + dice.whole(9, 58),
      buyer: disputing,
    })),
    ...Array.from({ length: INVOICES - first.length }, () => ({
      ageDays: age(dice),
      buyer: usual,
    })),
  ]);
  const claims = cases(dice, first, billed);
  const settled = settlements(dice, billed, claims);
  const corrected = rebills(settled);
  const wanted = DOCUMENTS - CHARGES - billed.length - corrected.length;
  return {
    accounts: customers,
    cases: claims,
    settlements: [...settled, ...settlements(dice, corrected, [])],
    creditNotes: creditNotes(dice, settled, wanted),
    charges: charges(dice, customers, CHARGES),
  };
};
