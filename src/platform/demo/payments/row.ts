import { iso, MINUTE } from "../../../kit/clock.ts";
import type { Making } from "../configuration.ts";
import type { Dice } from "../dice.ts";
import type { Invoice } from "../ledger/invoices.ts";
import { workday } from "../moments.ts";
import type { HeldBack, Receipt } from "./receipts.ts";

/** A payment row by the names of the catalogue. */
export type Payment = Readonly<Record<string, unknown>> & {
  id: string;
  createdAt: string;
  updatedAt: string;
};

const CENTS = 100;

export const amount = (cents: number): number => cents / CENTS;

/** A row as it was loaded, and last changed. */
export const loaded = (
  { dice, now, tenantId }: Making,
  values: Readonly<Record<string, unknown>>,
  { createdAt, updatedAt = createdAt }: { createdAt: number; updatedAt?: number },
): Payment => {
  const latest = now - MINUTE;
  return {
    id: dice.id(),
    tenantId,
    ...values,
    createdAt: iso(Math.min(createdAt, latest)),
    updatedAt: iso(Math.min(Math.max(createdAt, updatedAt), latest)),
  };
};

export const oldestFirst = (rows: readonly Payment[]): Payment[] =>
  rows.toSorted((one, other) =>
    one.createdAt < other.createdAt ? -1 : Number(one.createdAt > other.createdAt),
  );

/** What one payment paid: its receipts came from one customer on one day. */
export const together = (receipts: readonly Receipt[]): Receipt[][] => [
  ...Map.groupBy(
    receipts.toSorted((one, other) => other.ageDays - one.ageDays),
    ({ invoice, ageDays }) => `${invoice.account.number}/${ageDays}`,
  ).values(),
];

export const sumOf = (receipts: readonly Receipt[]): number =>
  receipts.reduce((sum, { cents }) => sum + cents, 0);

/** A line of a remittance. What is held back for a second reason has a line of its own, which pays nothing. */
export type Line = { receipt: Receipt; cents: number; heldBack: HeldBack | null };

export const linesOf = (receipt: Receipt): Line[] => {
  const [first = null, ...others] = receipt.heldBack;
  return [
    { receipt, cents: receipt.cents, heldBack: first },
    ...others.map((heldBack) => ({ receipt, cents: 0, heldBack })),
  ];
};

/** When the payer let go of money that came so many days ago; never before what it pays was issued. */
export const sentAge = (ageDays: number, underWay: number, invoices: readonly Invoice[]): number =>
  Math.min(ageDays + underWay, ...invoices.map((invoice) => invoice.ageDays));

export const invoiceDay = (now: number, { ageDays }: Invoice): number => workday(now, ageDays);

const MOST = 9999;

export const last4 = (dice: Dice): string => String(dice.whole(0, MOST)).padStart(4, "0");
