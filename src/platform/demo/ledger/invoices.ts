import type { Dice } from "../dice.ts";
import type { Account } from "./accounts.ts";
import { type Line, linesFor } from "./products.ts";

/** An invoice, as old as it is in days before now. */
export type Invoice = {
  number: string;
  account: Account;
  ageDays: number;
  poNumber: string | null;
  lines: readonly Line[];
  freightCents: number;
  taxCents: number;
  /** All of it. */
  cents: number;
};

const NO_PO = 0.06;
const SMALLEST = 18_000;
const LARGEST = 38_000_000;
const BILLS_FREIGHT = 0.45;
const FREIGHT = { least: 4_500, most: 148_000 };
const FIRST_INVOICE = 5_100_000;

const poNumber = (dice: Dice, account: Account): string | null => {
  if (dice.chance(NO_PO)) return null;
  const least = 10 ** (account.poDigits - 1);
  return `${account.poPrefix}${dice.whole(least, least * 10 - 1)}`;
};

const freightOf = (dice: Dice, goods: number): number => {
  const share = 0.01 + 0.04 * dice.share();
  if (!dice.chance(BILLS_FREIGHT)) return 0;
  return Math.round(Math.min(FREIGHT.most, Math.max(FREIGHT.least, goods * share)));
};

const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);

const draft = (dice: Dice, account: Account, ageDays: number): Omit<Invoice, "number"> => {
  const target = Math.round(dice.longTail(account.usualCents, 1.15));
  const bounded = Math.min(LARGEST, Math.max(SMALLEST, target));
  const lines = linesFor(dice, bounded, account.currency);
  const goods = sum(lines.map(({ lineCents }) => lineCents));
  const freightCents = freightOf(dice, goods);
  const taxCents = Math.round(goods * account.taxRate);
  const cents = goods + freightCents + taxCents;
  return {
    account,
    ageDays,
    poNumber: poNumber(dice, account),
    lines,
    freightCents,
    taxCents,
    cents,
  };
};

type Buyer = () => Account;

/** How much of all that is sold each account buys, and how much of what is disputed is its. */
export const buyers = (
  dice: Dice,
  accounts: readonly Account[],
): { usual: Buyer; disputing: Buyer } => {
  // A few customers buy most of what is sold.
  const usual = dice.shuffle(accounts).map((account, rank) => [account, 1 / (rank + 6)] as const);
  const disputing = usual.map(([account, share]) => [account, share * account.quarrels] as const);
  return { usual: dice.among(usual), disputing: dice.among(disputing) };
};

/** One invoice for each age asked, in that order, numbered in the order of their dates. */
export const invoices = (
  dice: Dice,
  asked: readonly { ageDays: number; buyer: Buyer }[],
): Invoice[] => {
  const drafts = asked.map(({ ageDays, buyer }) => draft(dice, buyer(), ageDays));
  let number = FIRST_INVOICE;
  const numbers = new Map(
    [...drafts.keys()]
      .toSorted((one, other) => (drafts[other]?.ageDays ?? 0) - (drafts[one]?.ageDays ?? 0))
      .map((place) => [place, String((number += dice.whole(7, 163)))]),
  );
  return drafts.map((made, place) => ({ number: numbers.get(place) ?? "", ...made }));
};
