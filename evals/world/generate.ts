import { createDice, type Dice } from "../../test/support/dice.ts";
import { ASSIGNEES, REASONS } from "./configuration.ts";
import type { Ledger } from "./ledger.ts";
import { addPayments } from "./payments.ts";
import { type Account, CURRENCIES, type Document } from "./records.ts";
import { nameCustomer } from "./words.ts";

export const COUNTS = { accounts: 2000, documents: 20_000, disputes: 3000, payments: 60_000 };

const SEED = 34;
const BRANCHES = 5;
/** One account in so many has branches. */
const PARENT_EVERY = 40;
const OLDEST = 400;

const addAccounts = ({ account, records }: Ledger): Account[] => {
  const made: Account[] = [];
  for (let place = 0; records.accounts.length < COUNTS.accounts; place += 1) {
    const number = `K-${10_001 + place}`;
    const currency = CURRENCIES[(place * 7) % 10 < 6 ? 0 : (place % 3) + 1] ?? "USD";
    const within = place % PARENT_EVERY;
    const parent = within > 0 && within <= BRANCHES ? made[place - within] : undefined;
    made.push(account(number, nameCustomer(place), parent?.currency ?? currency, parent));
  }
  return made;
};

/** A document with its age in days and what of it is paid, in cents. */
export type Billed = { document: Document; account: Account; age: number; paid: number };

const addDocuments = (
  { document, records }: Ledger,
  dice: Dice,
  accounts: readonly Account[],
): Billed[] => {
  const billed: Billed[] = [];
  for (let place = 0; records.documents.length < COUNTS.documents; place += 1) {
    const account = accounts[place % accounts.length];
    if (account === undefined) throw new Error("There are no accounts.");
    const original = dice.whole(5000, 3_000_000);
    const part = dice.whole(1000, original - 1000);
    const paid = dice.weigh([[original, 60] as const, [part, 25] as const, [0, 15] as const]);
    // An order has three invoices.
    const order = Math.floor(place / accounts.length / 3) * accounts.length;
    const po = `PO-${30_000 + order + (place % accounts.length)}`;
    const age = dice.whole(16, OLDEST);
    const balance = original - paid;
    const made = document(String(6_100_001 + place), account, { age, original, balance, po });
    billed.push({ document: made, account, age, paid });
  }
  return billed;
};

const REMARKS = [
  "Called the customer; they will send papers.",
  "Asked sales for the agreed price.",
  "Warehouse confirms the count.",
  "Waiting for the carrier.",
  "Customer sent a copy of the order.",
];

const RESOLVED = [
  ["NO-ERROR", 4],
  ["CREDIT-FULL", 3],
  ["CREDIT-PART", 2],
  ["REPAID", 1],
] as const;

/** Disputes older than these days have mostly ended. */
const USUAL_DAYS = 120;

const addDisputes = (
  { dispute, note, records }: Ledger,
  dice: Dice,
  billed: readonly Billed[],
): void => {
  const reasons = Object.keys(REASONS);
  while (records.disputes.length < COUNTS.disputes) {
    const { document, age: oldest } = dice.pick(billed);
    const age = dice.whole(2, oldest - 1);
    const isOpen = dice.chance(age > USUAL_DAYS ? 0.15 : 0.6);
    const status = isOpen ? "Open" : dice.weigh([["Canceled", 1] as const, ["Closed", 5] as const]);
    const made = dispute(document, {
      age,
      amount: dice.whole(1000, 1000 + Math.floor(document.original / 2)),
      reason: dice.pick(reasons),
      status,
      ...(isOpen ? {} : { closedAge: dice.whole(1, age - 1) }),
      ...(status === "Closed" ? { resolution: dice.weigh(RESOLVED) } : {}),
      ...(dice.chance(0.65) ? { assignee: dice.pick(ASSIGNEES).email } : {}),
    });
    if (dice.chance(0.6)) note(made, dice.whole(1, age - 1), dice.pick(REMARKS));
  }
};

/** Adds accounts, documents, disputes and payments around those that tasks are about. */
export const addOthers = (ledger: Ledger): void => {
  const dice = createDice(SEED);
  const billed = addDocuments(ledger, dice, addAccounts(ledger));
  addDisputes(ledger, dice, billed);
  addPayments(ledger, dice, billed, COUNTS.payments);
};
