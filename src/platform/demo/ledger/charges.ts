import type { Dice } from "../dice.ts";
import type { Account } from "./accounts.ts";

/** Interest on what is past due. */
export type Charge = { number: string; account: Account; ageDays: number; cents: number };

const FIRST_CHARGE = 300;
const LATE_DAYS = 8;

/** Charges to those who pay late, none of them paid yet. */
export const charges = (dice: Dice, accounts: readonly Account[], count: number): Charge[] => {
  const late = accounts.filter(({ daysLate }) => daysLate > LATE_DAYS);
  return Array.from({ length: count }, () => ({
    account: dice.pick(late.length === 0 ? accounts : late),
    ageDays: dice.whole(3, 120),
    cents: dice.whole(1_500, 42_000),
  }))
    .toSorted((one, other) => other.ageDays - one.ageDays)
    .map((charge, place) => ({ number: `FC-${FIRST_CHARGE + place}`, ...charge }));
};
