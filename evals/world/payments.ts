import type { Dice } from "../../test/support/dice.ts";
import type { Billed } from "./generate.ts";
import type { Ledger } from "./ledger.ts";

/** The most rows of a payment. */
const MOST_ROWS = 6;
const METHODS = [
  ["check", 3],
  ["ach", 4],
  ["wire", 2],
  ["lockbox", 1],
] as const;

/** Divides an amount into so many parts of at least one cent. */
const divide = (dice: Dice, amount: number, parts: number): number[] => {
  const made: number[] = [];
  let left = amount;
  for (let place = parts; place > 1; place -= 1) {
    const part = dice.whole(1, Math.max(1, Math.floor((left / place) * 1.4)));
    made.push(part);
    left -= part;
  }
  return [...made, left];
};

/** Adds payments in the portal; an attempt that failed, or a refund, may stand before those that moved money. */
const payInPortal = (ledger: Ledger, dice: Dice, billed: Billed, count: number): void => {
  const { document, account, age: oldest, paid } = billed;
  const row = { source: "iandp", method: dice.pick(["card", "ach"]) } as const;
  const pay = (place: number, applied: number, status: "settled" | "failed" | "refunded"): void => {
    const payment = `PAY-${document.number}-${place}`;
    ledger.pay(account, document, {
      ...row,
      payment,
      age: dice.whole(1, oldest - 1),
      applied,
      status,
    });
  };
  const hasFailed = dice.chance(0.3);
  if (hasFailed) pay(0, paid, dice.pick(["failed", "refunded"] as const));
  const amounts = divide(dice, paid, hasFailed ? count - 1 : count);
  for (const [place, applied] of amounts.entries()) pay(place + 1, applied, "settled");
};

const payInNetwork = (ledger: Ledger, dice: Dice, billed: Billed, count: number): void => {
  const { document, account, age: oldest, paid } = billed;
  for (const [place, applied] of divide(dice, paid, count).entries()) {
    ledger.pay(account, document, {
      source: "bpn",
      method: dice.pick(["vcard", "wire"]),
      payment: `NP-${document.number}-${place + 1}`,
      age: dice.whole(1, oldest - 1),
      total: applied,
      applied,
    });
  }
};

type Part = { billed: Billed; applied: number };

/** Adds payments of one account to cash application: each pays parts of several documents, and may leave a rest. */
const payByCash = (ledger: Ledger, dice: Dice, parts: readonly Part[], first: number): number => {
  let number = first;
  for (let from = 0; from < parts.length; number += 1) {
    const rows = parts.slice(from, from + dice.whole(1, MOST_ROWS));
    from += rows.length;
    const unapplied = dice.chance(0.05) ? dice.whole(500, 90_000) : 0;
    const total = rows.reduce((sum, { applied }) => sum + applied, unapplied);
    const age = dice.whole(1, Math.min(...rows.map(({ billed }) => billed.age)) - 1);
    const shared = {
      source: "cashapp",
      payment: `CP-${100_000 + number}`,
      method: dice.weigh(METHODS),
      reference: String(20_000 + ((number * 7) % 60_000)),
      age,
      total,
      unapplied,
    } as const;
    for (const { billed, applied } of rows) {
      const deducted = dice.chance(0.12) ? { deducted: dice.whole(200, 60_000) } : {};
      ledger.pay(billed.account, billed.document, { ...shared, applied, ...deducted });
    }
  }
  return number;
};

/** Adds unidentified payments: rows without a document and without an amount applied. */
const payUnknown = (ledger: Ledger, dice: Dice, billed: readonly Billed[], count: number): void => {
  for (let place = 0; place < count; place += 1) {
    const { account } = dice.pick(billed);
    const total = dice.whole(1000, 400_000);
    ledger.pay(account, undefined, {
      source: "cashapp",
      payment: `CU-${100_000 + place}`,
      method: "wire",
      age: dice.whole(1, 200),
      total,
      unapplied: total,
    });
  }
};

/** Of ten documents, those with lower places are paid by cash, then in the portal, then in the network. */
const CASH = 7;
const PORTAL = 9;

/** Pays documents until there are so many rows in all. */
export const addPayments = (
  ledger: Ledger,
  dice: Dice,
  billed: readonly Billed[],
  count: number,
): void => {
  const { payments } = ledger.records;
  const paid = billed.filter((one) => one.paid > 0);
  const cash = new Map<string, Part[]>();
  for (const [place, one] of paid.entries()) {
    const rows = dice.whole(2, 4);
    const way = place % 10;
    if (way >= PORTAL) payInNetwork(ledger, dice, one, rows);
    else if (way >= CASH) payInPortal(ledger, dice, one, rows);
    else {
      const parts = divide(dice, one.paid, rows).map((applied) => ({ billed: one, applied }));
      const { number } = one.account;
      cash.set(number, [...(cash.get(number) ?? []), ...parts]);
    }
  }
  let number = 0;
  for (const parts of cash.values()) number = payByCash(ledger, dice, parts, number);
  payUnknown(ledger, dice, billed, count - payments.length);
};
