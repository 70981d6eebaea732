import { iso, MINUTE } from "../../../kit/clock.ts";
import type { Making } from "../configuration.ts";
import type { Dice } from "../dice.ts";
import type { Account, Currency } from "../ledger/accounts.ts";
import { evening } from "../ledger/document-rows.ts";
import { dateOnly, workday } from "../moments.ts";
import type { Receipt } from "./receipts.ts";
import {
  amount,
  last4,
  type Line,
  linesOf,
  loaded,
  oldestFirst,
  type Payment,
  sentAge,
  sumOf,
  together,
} from "./row.ts";

type Method = "ach" | "lockbox" | "check" | "wire" | "card";

const AT_HOME: readonly (readonly [Method, number])[] = [
  ["ach", 46],
  ["lockbox", 24],
  ["check", 14],
  ["wire", 12],
  ["card", 4],
];
const ABROAD: readonly (readonly [Method, number])[] = [
  ["wire", 70],
  ["ach", 30],
];

const REMITTANCES: Record<Method, readonly string[]> = {
  ach: ["edi820", "email", "portal"],
  lockbox: ["lockbox"],
  check: ["manual", "email"],
  wire: ["camt054", "bai2", "email"],
  card: ["portal"],
};

const PAID_INTO: Record<Currency, string> = { USD: "4471", CAD: "9036", EUR: "2218" };
const LOCKBOX = "842077";
const MAIL_DAYS = 3;

/** What all lines of a payment share. */
const header = (
  making: Making,
  { account, ageDays, paidAge }: { account: Account; ageDays: number; paidAge: number },
  cents: number,
) => {
  const { dice, now } = making;
  const method = dice.weigh(account.currency === "USD" ? AT_HOME : ABROAD);
  const isPaper = method === "check" || method === "lockbox";
  const day = workday(now, ageDays);
  const reference = dice.whole(10_000_000, 99_999_999);
  return {
    paymentId: `CP-${dice.whole(100_000_000, 999_999_999)}`,
    batchId: `${method.toUpperCase()}-${dateOnly(day).replaceAll("-", "")}`,
    paymentDate: dateOnly(workday(now, isPaper ? paidAge : ageDays)),
    depositDate: dateOnly(day),
    postedAt: iso(evening(now, ageDays)),
    paymentMethod: method,
    paymentReference: isPaper ? String(reference).slice(2) : `0${reference}`,
    payerName: account.parent?.name ?? account.name,
    payerAccountLast4: last4(dice),
    currencyCode: account.currency,
    paymentAmount: amount(cents),
    remittanceSource: dice.pick(REMITTANCES[method]),
    lockboxNumber: method === "lockbox" ? LOCKBOX : null,
    bankAccountLast4: PAID_INTO[account.currency],
  };
};

const whose = (account: Account) => ({
  accountNumber: account.number,
  accountName: account.name,
  customerLocation: account.address.city,
});

const matchOf = (dice: Dice) => {
  const method = dice.weigh([
    ["auto", 78],
    ["suggested", 12],
    ["manual", 10],
  ]);
  const least = method === "auto" ? 92 : 61;
  const confidence = dice.whole(least, least === 92 ? 100 : 91) / 100;
  return { matchMethod: method, matchConfidence: method === "manual" ? null : confidence };
};

const lineRow = (making: Making, head: object, line: Line): Payment => {
  const { receipt, cents, heldBack } = line;
  const { invoice, ageDays, leftCents, ends } = receipt;
  const dispute = heldBack?.dispute ?? ends;
  const posted = evening(making.now, ageDays);
  // Its dispute is known when it is handed over.
  const createdAt = Math.max(posted, (dispute?.created_at ?? 0) + MINUTE);
  const values = {
    ...head,
    ...whose(invoice.account),
    documentNumber: invoice.number,
    invoiceNumber: invoice.number,
    poNumber: invoice.poNumber,
    appliedAmount: amount(cents),
    unappliedAmount: 0,
    invoiceAmount: amount(invoice.cents),
    invoiceBalance: amount(leftCents),
    discountTaken: 0,
    deductionAmount: amount(heldBack?.cents ?? 0),
    deductionReasonCode: heldBack?.reasonCode ?? null,
    shortPay: heldBack !== null,
    applicationStatus: leftCents === 0 ? "matched" : "partial",
    ...matchOf(making.dice),
    disputeId: dispute?.id ?? null,
    exportedAt: iso(createdAt),
  };
  return loaded(making, values, { createdAt });
};

const remittance = (dice: Dice) => ({ remittanceId: `RA-${dice.whole(1_000_000, 9_999_999)}` });

const paymentRows = (making: Making, receipts: readonly Receipt[]): Payment[] => {
  const [first] = receipts;
  if (first === undefined) return [];
  const { invoice, ageDays } = first;
  const invoices = receipts.map((one) => one.invoice);
  const paidAge = sentAge(ageDays, MAIL_DAYS, invoices);
  const head = {
    ...header(making, { account: invoice.account, ageDays, paidAge }, sumOf(receipts)),
    ...remittance(making.dice),
  };
  return receipts.flatMap(linesOf).map((line) => lineRow(making, head, line));
};

const REVERSED = 10;
const CAME_BACK = 6;

/** Money that came back before it came again. */
const reversedRow = (making: Making, { invoice, ageDays, cents }: Receipt): Payment => {
  const { account } = invoice;
  const age = ageDays + CAME_BACK;
  const head = header(making, { account, ageDays: age, paidAge: age }, cents);
  const createdAt = evening(making.now, age);
  const values = {
    ...head,
    ...remittance(making.dice),
    ...whose(account),
    documentNumber: invoice.number,
    invoiceNumber: invoice.number,
    poNumber: invoice.poNumber,
    appliedAmount: 0,
    unappliedAmount: 0,
    invoiceAmount: amount(invoice.cents),
    invoiceBalance: amount(invoice.cents),
    deductionAmount: 0,
    shortPay: false,
    applicationStatus: "reversed",
    exportedAt: iso(createdAt),
  };
  return loaded(making, values, { createdAt, updatedAt: evening(making.now, age - 3) });
};

const reversals = (making: Making, receipts: readonly Receipt[]): Payment[] => {
  const whole = receipts.filter(
    ({ invoice, ageDays, cents }) =>
      cents === invoice.cents && invoice.ageDays > ageDays + CAME_BACK && ageDays < 120,
  );
  return making.dice
    .shuffle(whole)
    .slice(0, REVERSED)
    .map((receipt) => reversedRow(making, receipt));
};

const STRAYS = 34;
const UNKNOWN = 0.25;
const ON_ACCOUNT = 0.4;

/** Money that nobody can say what it pays for, or that its payer wants kept. */
const stray = (making: Making, account: Account): Payment => {
  const { dice } = making;
  const ageDays = dice.whole(1, 48);
  const cents = Math.round(dice.longTail(account.usualCents / 4, 0.9));
  const head = header(making, { account, ageDays, paidAge: ageDays }, cents);
  const isUnknown = dice.chance(UNKNOWN);
  const isKept = dice.chance(ON_ACCOUNT);
  const createdAt = evening(making.now, ageDays);
  const values = {
    ...head,
    ...(isUnknown ? {} : whose(account)),
    appliedAmount: 0,
    unappliedAmount: amount(cents),
    deductionAmount: 0,
    shortPay: false,
    applicationStatus: isKept && !isUnknown ? "on_account" : "unapplied",
  };
  return loaded(making, values, { createdAt });
};

/** What the bank received, and what it was applied to. */
export const cashapp = (
  making: Making,
  receipts: readonly Receipt[],
  accounts: readonly Account[],
): Payment[] => {
  const { dice } = making;
  return oldestFirst([
    ...together(receipts).flatMap((some) => paymentRows(making, some)),
    ...reversals(making, receipts),
    ...Array.from({ length: STRAYS }, () => stray(making, dice.pick(accounts))),
  ]);
};
