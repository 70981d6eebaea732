import { CATEGORIES } from "./catalogue.ts";
import type { Dice } from "./dice.ts";
import type { Invoice } from "./ledger/invoices.ts";
import { type Claim, type ReasonPlan, REASONS } from "./reasons.ts";

/** How old a claim is and how far it got. */
export type Course = {
  ageDays: number;
  status: 0 | 1 | 2;
  /** Days until it ended; 0 while open. */
  cycleDays: number;
};

/** A claim before it is a record. */
export type Case = Course & {
  invoice: Invoice;
  reason: ReasonPlan;
  /** What the customer chose in its portal. */
  external: ReasonPlan | null;
  cents: number;
  /** The code of how it was resolved; null where it was not, or not yet. */
  resolution: string | null;
  /** The same claim as an earlier one, entered by somebody who did not look. */
  again: boolean;
};

/** 300 disputes: 165 open, 105 closed, 30 cancelled. */
const FIRST = { open: 147, closed: 93, cancelled: 30 };
const TWINS = 6;
const SECOND = { open: 12, closed: 12 };

const OPEN_AGES: readonly (readonly [readonly [number, number], number])[] = [
  [[0, 7], 15],
  [[8, 30], 30],
  [[31, 60], 24],
  [[61, 90], 14],
  [[91, 150], 12],
  [[151, 260], 5],
];

const OLDEST_CLOSED = 320;

const open = (dice: Dice): Course => {
  const [from, to] = dice.weigh(OPEN_AGES);
  return { status: 0, ageDays: dice.whole(from, to), cycleDays: 0 };
};

const closed = (dice: Dice): Course => {
  const ageDays = 15 + Math.floor(dice.share() ** 1.4 * OLDEST_CLOSED);
  const cycleDays = Math.min(ageDays - 2, Math.max(1, Math.round(dice.longTail(21, 0.7))));
  return { status: 1, ageDays, cycleDays };
};

const cancelled = (dice: Dice): Course => {
  const ageDays = dice.whole(6, 250);
  return { status: 2, ageDays, cycleDays: dice.whole(1, Math.min(14, ageDays - 3)) };
};

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** The first claim on each of as many documents. */
export const courses = (dice: Dice): Course[] =>
  dice.shuffle([
    ...times(FIRST.open, () => open(dice)),
    ...times(FIRST.closed, () => closed(dice)),
    ...times(FIRST.cancelled, () => cancelled(dice)),
  ]);

const centsOf = (dice: Dice, claim: Claim, invoice: Invoice): number => {
  if (claim.kind === "whole") return invoice.cents;
  if (claim.kind === "freight") return invoice.freightCents;
  if (claim.kind === "tax") return invoice.taxCents;
  const share =
    claim.kind === "rate"
      ? dice.pick(claim.rates)
      : claim.from + dice.share() * (claim.to - claim.from);
  return Math.max(1, Math.round(invoice.cents * share));
};

const internal = REASONS.filter(({ weight }) => weight > 0);

/** Nobody argues about a charge that the invoice does not bear. */
const fits =
  ({ freightCents, taxCents }: Invoice) =>
  ({ claim: { kind } }: ReasonPlan): boolean =>
    (kind !== "freight" || freightCents > 0) && (kind !== "tax" || taxCents > 0);

const PORTAL_SHARE = 0.12;

// What comes in through the portal has the category's default internal reason.
const throughPortal = (dice: Dice, reason: ReasonPlan) => {
  const category = CATEGORIES.find((one) => one.code === reason.category);
  const choices = REASONS.filter(
    (one) => one.category === category?.code && one.visibility !== "Internal",
  );
  const mapped = REASONS.find(
    (one) => one.category === category?.code && one.code === category.internal,
  );
  return choices.length === 0 || mapped === undefined
    ? { reason, external: null }
    : { reason: mapped, external: dice.pick(choices) };
};

/** Cents up to which nobody argues. */
const TOLERANCE = 25_000;

/** Claims end as their kind ends; what the customer chose tells more than what it was mapped to. */
const resolutionOf = (
  dice: Dice,
  { external, reason, cents, status }: Omit<Case, "resolution">,
): string | null => {
  if (status !== 1) return null;
  const { ends } = external !== null && external.ends.length > 0 ? external : reason;
  return dice.weigh(ends.filter(([code]) => code !== "WRITE-OFF" || cents <= TOLERANCE));
};

type Among = { reasons?: readonly ReasonPlan[]; mostCents?: number };

const caseOn = (
  dice: Dice,
  invoice: Invoice,
  course: Course,
  { reasons = internal, mostCents = invoice.cents }: Among = {},
): Case => {
  const fitting = reasons.filter(fits(invoice));
  const drawn = dice.weigh(fitting.map((reason) => [reason, reason.weight] as const));
  const chosen = dice.chance(PORTAL_SHARE)
    ? throughPortal(dice, drawn)
    : { reason: drawn, external: null };
  const { claim } = chosen.external ?? chosen.reason;
  const cents = Math.min(mostCents, centsOf(dice, claim, invoice));
  const made = { invoice, ...chosen, ...course, cents, again: false };
  return { ...made, resolution: resolutionOf(dice, made) };
};

const twins = (dice: Dice, firsts: readonly Case[]): Case[] =>
  dice
    .shuffle(firsts.filter((one) => one.status === 0 && one.ageDays >= 9 && one.ageDays <= 75))
    .slice(0, TWINS)
    .map((one) => ({
      ...one,
      external: null,
      ageDays: one.ageDays - dice.whole(2, 7),
      again: true,
    }));

const partial = internal.filter((reason) => reason.claim.kind !== "whole");

/** Another claim on an invoice of which a part is disputed already. */
const seconds = (dice: Dice, firsts: readonly Case[], twinned: ReadonlySet<Invoice>): Case[] => {
  const fitting = (oldest: number) =>
    dice
      .shuffle(
        firsts.filter(
          (one) =>
            one.ageDays >= oldest &&
            one.cents * 3 < one.invoice.cents &&
            one.status < 2 &&
            !twinned.has(one.invoice),
        ),
      )
      .values();
  const later = (first: Case, course: Course): Case => {
    const reasons = partial.filter((reason) => reason.category !== first.reason.category);
    const mostCents = Math.floor((first.invoice.cents - first.cents) / 2);
    return caseOn(dice, first.invoice, course, { reasons, mostCents });
  };
  const young = fitting(2).take(SECOND.open).toArray();
  const old = fitting(50)
    .filter((one) => !young.includes(one))
    .take(SECOND.closed)
    .toArray();
  return [
    ...young.map((first) =>
      later(first, { status: 0, cycleDays: 0, ageDays: dice.whole(0, first.ageDays) }),
    ),
    ...old.map((first) =>
      later(first, { status: 1, cycleDays: dice.whole(4, 20), ageDays: first.ageDays - 20 }),
    ),
  ];
};

/** Every dispute of the demo tenant in the order of their making: a course on each of these invoices, and more on some. */
export const cases = (
  dice: Dice,
  first: readonly Course[],
  disputed: readonly Invoice[],
): Case[] => {
  const firsts = first.flatMap((course, place) => {
    const invoice = disputed[place];
    return invoice === undefined ? [] : [caseOn(dice, invoice, course)];
  });
  const again = twins(dice, firsts);
  const more = seconds(dice, firsts, new Set(again.map(({ invoice }) => invoice)));
  return [...firsts, ...again, ...more].toSorted((one, other) => other.ageDays - one.ageDays);
};
