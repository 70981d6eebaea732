import { createDice } from "../support/dice.ts";
import { writeBai2 } from "./bai2.ts";
import { writeCamt } from "./camt.ts";
import { writeEdi820 } from "./edi820.ts";
import { listStatements } from "./files.ts";
import type { Statement } from "./statement.ts";
import { LOCALES, writeLedger, writeRegister } from "./tables.ts";
import {
  type BankAccount,
  type Booking,
  type Customer,
  type Document,
  type Registered,
  type Share,
  sum,
  type Truth,
} from "./truth.ts";

/** A file of the month: `kind` and `source` are those of the import. */
export type MonthFile = {
  name: string;
  kind: "documents" | "payments";
  source?: "iandp";
  bytes: Buffer;
  map?: object;
};

const DAY_MS = 86_400_000;
const DAYS = Array.from({ length: 26 }, (_, place) =>
  new Date(Date.UTC(2026, 2, 2) + place * DAY_MS).toISOString().slice(0, 10),
).filter((day) => ![0, 6].includes(new Date(day).getUTCDay()));

const AMERICAN: BankAccount = {
  number: "0532014711",
  currency: "USD",
  decimals: 2,
  isAmerican: true,
  style: "bank reference",
};
const GERMAN: BankAccount = {
  number: "DE89370400440532019000",
  currency: "EUR",
  decimals: 2,
  isAmerican: false,
  style: "end-to-end id",
};

const CUSTOMERS: readonly Customer[] = [
  "Alder Works GmbH",
  "Birch Foods SA",
  "Cedar Tools Inc",
].map((name, place) => ({
  number: `C-${place + 1}`,
  name,
  account: `DE0212030000000020205${place}`,
}));

const [ALDER = CUSTOMERS[0] as Customer, BIRCH = ALDER, CEDAR = ALDER] = CUSTOMERS;

/** Makes the bookings of a month at two banks, each from one dice. */
class MonthMaker {
  readonly #dice = createDice(2026);
  readonly documents: Document[] = [];
  readonly bookings: Booking[] = [];
  #numbers = 5000;

  #next(prefix: string): string {
    this.#numbers += 1;
    return `${prefix}${this.#numbers}`;
  }

  #share(customer: Customer, { currency, decimals }: BankAccount, short: number): Share {
    const amount = this.#dice.whole(10_000, 900_000);
    const deduction = Math.floor(amount * short);
    const number = this.#next("INV-");
    const document = { number, customer, currency, decimals, amount, isShared: false };
    this.documents.push(document);
    return { document, paid: amount - deduction, discount: 0, deduction };
  }

  pay(
    account: BankAccount,
    day: number,
    customers: readonly Customer[],
    { short = 0, type }: { short?: number; type?: string } = {},
  ): Booking {
    const isAmerican = account === AMERICAN;
    const transactions = customers.map((customer) => {
      const shares = [this.#share(customer, account, short), this.#share(customer, account, 0)];
      const amount = sum(shares.map(({ paid }) => paid));
      const trace = this.#next(isAmerican ? "TRC00" : "E2E-");
      const text = type === undefined ? "payment of invoices" : "LOCKBOX 55012";
      return { customer, amount, trace, text, shares };
    });
    const booking: Booking = {
      account,
      day,
      reference: isAmerican ? this.#next("BK77") : "",
      transactions,
      amount: sum(transactions.map(({ amount }) => amount)),
      ...(type === undefined ? {} : { type }),
    };
    this.bookings.push(booking);
    return booking;
  }

  /** The same payer pays the same amount once more on the same day. */
  repeat(booking: Booking): void {
    const [first] = booking.transactions;
    if (first === undefined) return;
    const isAmerican = booking.account === AMERICAN;
    const trace = this.#next(isAmerican ? "TRC00" : "E2E-");
    const reference = isAmerican ? this.#next("BK77") : "";
    this.bookings.push({ ...booking, reference, transactions: [{ ...first, trace, shares: [] }] });
  }

  giveBack(returned: Booking, day: number): void {
    const { account, amount, transactions } = returned;
    const [first] = transactions;
    if (first === undefined) return;
    const reference = account === AMERICAN ? this.#next("BK77") : "";
    const back = [{ ...first, amount: -amount, shares: [] }];
    this.bookings.push({ account, day, reference, transactions: back, amount: -amount, returned });
  }

  other(account: BankAccount, day: number, other: Booking["other"] & string, size: number): void {
    const reference = account === AMERICAN ? this.#next("BK77") : "";
    const amount = other === "fee" || other === "outgoing" ? -size : size;
    this.bookings.push({ account, day, reference, transactions: [], amount, other });
  }

  portal(count: number): Registered[] {
    return Array.from({ length: count }, () => ({
      id: this.#next("PORTAL-"),
      source: "iandp" as const,
      day: this.#dice.pick(DAYS),
      customer: CEDAR,
      currency: "USD",
      decimals: 2,
      shares: [this.#share(CEDAR, AMERICAN, 0)],
    }));
  }
}

const makeBookings = (maker: MonthMaker): void => {
  for (const day of DAYS.keys()) {
    const american = maker.pay(AMERICAN, day, [day % 2 === 0 ? ALDER : CEDAR], {
      short: day % 5 === 3 ? 0.1 : 0,
    });
    if (day % 4 === 1) maker.pay(AMERICAN, day, [BIRCH], { type: "115" });
    if (day === 6) maker.repeat(american);
    const german = maker.pay(GERMAN, day, day % 7 === 2 ? [ALDER, BIRCH] : [BIRCH]);
    if (day === 9) maker.repeat(german);
    if (day === 12) maker.giveBack(german, 15);
    if (day === 13) maker.giveBack(american, 18);
  }
  const last = DAYS.length - 1;
  maker.other(AMERICAN, last, "fee", 4_550);
  maker.other(AMERICAN, last, "interest", 1_207);
  maker.other(GERMAN, last, "fee", 1_990);
  maker.other(GERMAN, 10, "outgoing", 250_000);
};

const WEEK = 5;

const divide = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / WEEK) }, (_, place) =>
    items.slice(place * WEEK, (place + 1) * WEEK),
  );

const writeGerman = (statement: Statement, place: number): MonthFile[] => {
  const form = { hasSums: place % 2 === 0, envelope: "none", encoding: "UTF-8" } as const;
  const write = (kind: "camt.053" | "camt.054", hasDetails: boolean): MonthFile => ({
    name: `${kind}-${statement.id}.xml`,
    kind: "payments",
    bytes: Buffer.from(writeCamt(kind, statement, { ...form, hasSums: true, hasDetails })),
  });
  // The statement has batches alone; a notification has their transactions.
  const isBatch = statement.bookings.some(({ transactions }) => transactions.length > 1);
  return [write("camt.053", !isBatch), ...(isBatch ? [write("camt.054", true)] : [])];
};

/** A month of a company with two banks, a lockbox, advices of its payers, and a portal. */
export type Month = {
  truth: Truth;
  accounts: { american: BankAccount; german: BankAccount };
  /** The files by the days on which they were made. */
  files: readonly MonthFile[];
};

/** Makes the month with its files: BAI2 by week, camt by day, 820 by week, and exports of ledger and portal. */
export const makeMonth = async (): Promise<Month> => {
  const maker = new MonthMaker();
  makeBookings(maker);
  const registered = maker.portal(6);
  const { documents, bookings } = maker;
  const accounts = [AMERICAN, GERMAN];
  const truth = { days: DAYS, customers: CUSTOMERS, documents, accounts, bookings, registered };
  const [english = LOCALES[0]] = LOCALES;
  const writing = { form: english as (typeof LOCALES)[number], encoding: "utf-8" } as const;
  const ledger = await writeLedger(documents, writing);
  const portal = await writeRegister("iandp", registered, { ...writing, form: "workbook" }, true);
  const advised = bookings.filter(
    ({ account, returned, type, transactions: [first] }) =>
      account === AMERICAN &&
      returned === undefined &&
      type === undefined &&
      (first?.shares.length ?? 0) > 0,
  );
  const american = divide(listStatements(truth, AMERICAN)).map((statements, place) => ({
    name: `bai2-week-${place + 1}.bai`,
    kind: "payments" as const,
    bytes: Buffer.from(writeBai2(String(place + 1), statements)),
  }));
  const advices = divide(advised).map((group, place) => ({
    name: `advices-${place + 1}.edi`,
    kind: "payments" as const,
    bytes: Buffer.from(
      writeEdi820(
        group.map((booking) => ({ booking, day: DAYS[booking.day] ?? "" })),
        place + 1,
      ),
    ),
  }));
  const files: MonthFile[] = [
    { name: "ledger.csv", kind: "documents", ...ledger },
    ...american,
    ...listStatements(truth, GERMAN).flatMap(writeGerman),
    ...advices,
    { name: "portal.xlsx", kind: "payments", source: "iandp", ...portal },
  ];
  return { truth, accounts: { american: AMERICAN, german: GERMAN }, files };
};
