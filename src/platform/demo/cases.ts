import { CATEGORIES } from "./catalogue.ts";
import type { Dice } from "./dice.ts";
import { type Account, type Invoice, invoices } from "./ledger.ts";
import { type Claim, type ReasonPlan, REASONS } from "./reasons.ts";

/** A claim before it is a record: what it is about, how old it is, how far it got. */
export type Case = {
  invoice: Invoice;
  reason: ReasonPlan;
  /** What the customer chose in its portal. */
  external: ReasonPlan | null;
  cents: number;
  ageDays: number;
  status: 0 | 1 | 2;
  /** Days until it ended; 0 while open. */
  cycleDays: number;
};

type Course = Pick<Case, "ageDays" | "status" | "cycleDays">;

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

const centsOf = (dice: Dice, claim: Claim, invoiceCents: number): number => {
  if (claim.kind === "whole") return invoiceCents;
  if (claim.kind === "charge") {
    return Math.min(invoiceCents, dice.whole(claim.from, claim.to));
  }
  const share =
    claim.kind === "rate"
      ? dice.pick(claim.rates)
      : claim.from + dice.share() * (claim.to - claim.from);
  return Math.max(1, Math.round(invoiceCents * share));
};

const internal = REASONS.filter((reason) => reason.weight > 0).map(
  (reason) => [reason, reason.weight] as const,
);
const partial = internal.filter(([reason]) => reason.claim.kind !== "whole");

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

const caseOn = (
  dice: Dice,
  invoice: Invoice,
  course: Course,
  reasons: typeof internal = internal,
): Case => {
  const drawn = dice.weigh(reasons);
  const chosen = dice.chance(PORTAL_SHARE)
    ? throughPortal(dice, drawn)
    : { reason: drawn, external: null };
  const { claim } = chosen.external ?? chosen.reason;
  return { invoice, ...chosen, ...course, cents: centsOf(dice, claim, invoice.cents) };
};

/** The same claim, entered again some days later by somebody who did not look. */
const twins = (dice: Dice, firsts: readonly Case[]): Case[] =>
  dice
    .shuffle(firsts.filter((one) => one.status === 0 && one.ageDays >= 9 && one.ageDays <= 75))
    .slice(0, TWINS)
    .map((one) => ({ ...one, external: null, ageDays: one.ageDays - dice.whole(2, 7) }));

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
    const others = partial.filter(([reason]) => reason.category !== first.reason.category);
    return caseOn(dice, first.invoice, course, others);
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

/** Every dispute of the demo tenant in the order of their making. */
export const cases = (dice: Dice, customers: readonly Account[]): Case[] => {
  const courses = dice.shuffle([
    ...times(FIRST.open, () => open(dice)),
    ...times(FIRST.closed, () => closed(dice)),
    ...times(FIRST.cancelled, () => cancelled(dice)),
  ]);
  const billed = invoices(
    dice,
    customers,
    courses.map(({ ageDays }) => ageDays + dice.whole(9, 58)),
  );
  const firsts = courses.flatMap((course, place) => {
    const invoice = billed[place];
    return invoice === undefined ? [] : [caseOn(dice, invoice, course)];
  });
  const again = twins(dice, firsts);
  const more = seconds(dice, firsts, new Set(again.map(({ invoice }) => invoice)));
  return [...firsts, ...again, ...more].toSorted((one, other) => other.ageDays - one.ageDays);
};
