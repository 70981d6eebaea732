import type { Case } from "../cases.ts";
import type { Dice } from "../dice.ts";
import type { Account } from "./accounts.ts";
import type { Invoice } from "./invoices.ts";

/** What took something off an invoice, so many days before now. */
export type Entry = {
  kind: "payment" | "credit" | "write_off";
  cents: number;
  ageDays: number;
  /** The claim that it ends. */
  claim: Case | null;
};

/** All that happened to what an invoice is over; the oldest entry first. */
export type Settlement = { invoice: Invoice; entries: readonly Entry[] };

const WEEK = 7;
const STUCK = 0.012;
const SHORT = 0.025;

/** How many days ago an account paid what fell due so many days ago; below 1 where it has not yet. */
const paidAge = (dice: Dice, account: Account, dueAge: number): number => {
  const spread = (dice.share() + dice.share() + dice.share() - 1.5) * 16;
  const stuck = dice.chance(STUCK) ? dice.whole(50, 140) : 0;
  const age = Math.round(dueAge - account.daysLate - spread - stuck);
  // With the next of its weekly runs.
  return age - ((((age - account.payDay) % WEEK) + WEEK) % WEEK);
};

const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);

/** Paid as its customer pays, now and then short by something that nobody has claimed yet. */
const undisputed = (dice: Dice, invoice: Invoice): Entry[] => {
  const { account, ageDays, cents } = invoice;
  const age = Math.min(ageDays - 1, paidAge(dice, account, ageDays - account.terms.days));
  const short = dice.chance(SHORT) ? Math.round(cents * dice.pick([0.01, 0.02, 0.035])) : 0;
  if (age < 1) return [];
  return [{ kind: "payment", cents: cents - short, ageDays: age, claim: null }];
};

type Outcome = Omit<Entry, "claim">;

const payment = (cents: number, ageDays: number): Outcome[] =>
  ageDays < 1 ? [] : [{ kind: "payment", cents, ageDays }];

/** What its end did to the part of an invoice that a claim was over. */
const outcome = (dice: Dice, claim: Case): Outcome[] => {
  const { cents, ageDays, cycleDays, resolution, status } = claim;
  const soon = dice.whole(1, 20);
  const later = dice.whole(5, 38);
  const share = 0.3 + dice.share() * 0.5;
  if (status === 0) return [];
  const ended = ageDays - cycleDays;
  switch (resolution) {
    case "CREDIT-FULL":
    case "REBILLED":
      return [{ kind: "credit", cents, ageDays: ended }];
    case "CREDIT-PART": {
      // What people agree on are round sums.
      const part = Math.min(cents, Math.max(100, Math.round((cents * share) / 100) * 100));
      const rest = cents === part ? [] : payment(cents - part, ended - later);
      return [{ kind: "credit", cents: part, ageDays: ended }, ...rest];
    }
    case "WRITE-OFF":
      return [{ kind: "write_off", cents, ageDays: ended }];
    case "PAID":
      return payment(cents, ended);
    case null:
      return payment(cents, ended - soon);
    default:
      return payment(cents, ended - later);
  }
};

const PAID_REST = 0.8;

/** What nobody contests is paid when the claim comes up; the rest as the claims end. */
const disputed = (dice: Dice, invoice: Invoice, claims: readonly Case[]): Entry[] => {
  const contested = sum(claims.map(({ cents }) => cents));
  const oldest = Math.max(...claims.map(({ ageDays }) => ageDays));
  const restAge = Math.max(1, oldest + dice.whole(0, 1));
  const paysRest = dice.chance(PAID_REST) || claims.some(({ status }) => status !== 0);
  const rest =
    contested < invoice.cents && paysRest ? payment(invoice.cents - contested, restAge) : [];
  return [
    ...rest.map((entry) => ({ ...entry, claim: null })),
    ...claims.flatMap((claim) => outcome(dice, claim).map((entry) => ({ ...entry, claim }))),
  ].toSorted((one, other) => other.ageDays - one.ageDays);
};

/** How each invoice was settled, as far as it is. */
export const settlements = (
  dice: Dice,
  all: readonly Invoice[],
  cases: readonly Case[],
): Settlement[] => {
  const claimsOn = Map.groupBy(
    cases.filter(({ again }) => !again),
    ({ invoice }) => invoice,
  );
  return all.map((invoice) => {
    const claims = claimsOn.get(invoice);
    const entries =
      claims === undefined ? undisputed(dice, invoice) : disputed(dice, invoice, claims);
    return { invoice, entries };
  });
};

/** What is left to pay; an amount written off is. */
export const balanceOf = ({ invoice, entries }: Settlement): number =>
  invoice.cents - sum(entries.flatMap(({ kind, cents }) => (kind === "write_off" ? [] : cents)));
