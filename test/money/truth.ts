import type { Source } from "../../src/contract/payments/catalogue.ts";
import type { Dice } from "../support/dice.ts";

/** The facts by which messages about an account tell one booking from another. */
export type Style = "bank reference" | "end-to-end id" | "text";

export type BankAccount = {
  number: string;
  currency: string;
  decimals: number;
  isAmerican: boolean;
  style: Style;
};

export type Customer = { number: string; name: string; account: string };

/** Amounts are in the smallest unit of their currency. */
export type Document = {
  number: string;
  customer: Customer;
  currency: string;
  decimals: number;
  amount: number;
  /** Whether several payments are for it. */
  isShared: boolean;
  /** A credit note reduces this invoice, or is credit on account. */
  credit?: { of?: Document };
};

/** A part of a payment. Of a credit note that is used, `paid` is negative. */
export type Share = { document: Document; paid: number; discount: number; deduction: number };

export type Transaction = {
  customer: Customer;
  amount: number;
  /** The end-to-end id or trace number, or "". */
  trace: string;
  text: string;
  shares: readonly Share[];
};

export type Other = "interest" | "transfer" | "fee" | "outgoing";

/** A booking on an account, which has several transactions if it is a batch. */
export type Booking = {
  account: BankAccount;
  /** Position of its day, from 0. */
  day: number;
  /** The bank's reference, or "". */
  reference: string;
  transactions: readonly Transaction[];
  /** Negative for a debit. */
  amount: number;
  /** The booking that it returns, as a whole or in part. */
  returned?: Booking;
  /** The kind of a booking that is no payment of a customer. */
  other?: Other;
  /** Its type in BAI2, such as 115 for a lockbox; absent for the usual one. */
  type?: string;
};

/** A payment of a register, beside those of bank messages. */
export type Registered = {
  id: string;
  source: Source;
  day: string;
  customer: Customer;
  currency: string;
  decimals: number;
  shares: readonly Share[];
};

export type Truth = {
  days: readonly string[];
  customers: readonly Customer[];
  documents: readonly Document[];
  accounts: readonly BankAccount[];
  bookings: readonly Booking[];
  registered: readonly Registered[];
};

export const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => total + amount, 0);

export const amountOf = ({ shares }: Pick<Registered, "shares">): number =>
  sum(shares.map(({ paid }) => paid));

/** Writes an amount with the decimals of its currency. */
export const decimal = (amount: number, decimals: number, point = "."): string => {
  const digits = String(Math.abs(amount)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? "" : `${point}${digits.slice(-decimals)}`;
  return `${amount < 0 ? "-" : ""}${whole}${fraction}`;
};

const DECIMALS: Readonly<Record<string, number>> = { EUR: 2, CHF: 2, USD: 2, JPY: 0, KWD: 3 };
const NAMES = ["Alder", "Birch", "Cedar", "Dogwood", "Elder", "Fir", "Gorse", "Hazel"];
const FORMS = ["Works GmbH", "Trading Ltd", "Foods SA", "Tools Inc", "Süd AG"];
const OTHERS: readonly Other[] = ["interest", "transfer", "fee", "outgoing"];
/** Amounts that several payments have, so that equal ones meet. */
const COMMON = [10_000, 25_000, 119_000];
const FIRST_DAY = Date.UTC(2026, 1, 20);
const DAY_MS = 86_400_000;

/** Makes the truth of which files are written, all from one dice. */
class Maker {
  readonly #dice: Dice;
  readonly documents: Document[] = [];
  readonly customers: Customer[];
  #numbers = 1000;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.customers = NAMES.slice(0, dice.whole(2, 5)).map((name, place) => ({
      number: `C-${101 + place}`,
      name: `${name} ${dice.pick(FORMS)}`,
      account: `DE02120300000000${String(202_051 + place * 7)}`,
    }));
  }

  accounts(): BankAccount[] {
    const dice = this.#dice;
    return Array.from({ length: dice.whole(1, 3) }, (_, place): BankAccount => {
      const isAmerican = dice.chance(0.4);
      const currency = isAmerican ? "USD" : dice.pick(["EUR", "EUR", "CHF", "JPY", "KWD"]);
      const styles: readonly Style[] = ["bank reference", "end-to-end id", "text"];
      return {
        number: `${isAmerican ? "" : "DE8937040044"}053201${String(3000 + place * 111)}`,
        currency,
        decimals: DECIMALS[currency] ?? 2,
        isAmerican,
        style: dice.pick(isAmerican ? styles.slice(0, 2) : styles),
      };
    });
  }

  next(prefix: string): string {
    this.#numbers += this.#dice.whole(1, 9);
    return `${prefix}${this.#numbers}`;
  }

  #amount(): number {
    const dice = this.#dice;
    return dice.chance(0.3) ? dice.pick(COMMON) : dice.whole(101, 9_999_999);
  }

  /** A share of a new document, or of one that other payments pay too. */
  #share(customer: Customer, money: Pick<BankAccount, "currency" | "decimals">): Share {
    const dice = this.#dice;
    const { currency, decimals } = money;
    const paid = this.#amount();
    const known = this.documents.filter(
      (one) => one.customer === customer && one.currency === currency && one.credit === undefined,
    );
    if (known.length > 0 && dice.chance(0.15)) {
      const document = dice.pick(known);
      document.isShared = true;
      return { document, paid, discount: 0, deduction: 0 };
    }
    const discount = dice.chance(0.2) ? Math.floor(paid / 50) : 0;
    const deduction = dice.chance(0.2) ? Math.floor(paid / dice.whole(10, 30)) : 0;
    const credit = dice.chance(0.1) ? Math.ceil(paid / dice.whole(3, 20)) : 0;
    const document: Document = {
      number: this.next(dice.pick(["INV-", "RE", "9000"])),
      customer,
      currency,
      decimals,
      amount: paid + discount + deduction + credit,
      isShared: false,
    };
    this.documents.push(document);
    if (credit > 0) this.#credit({ customer, currency, decimals, amount: credit }, document);
    return { document, paid, discount, deduction };
  }

  /** Makes a credit note that reduces an invoice, or a credit on account. */
  #credit(
    facts: Pick<Document, "customer" | "currency" | "decimals" | "amount">,
    of?: Document,
  ): Document {
    const credit = of === undefined ? {} : { of };
    const document = { number: this.next("CN-"), ...facts, isShared: false, credit };
    this.documents.push(document);
    return document;
  }

  /** The documents of a payment: invoices, and in some a credit note that the sender uses. */
  shares(customer: Customer, money: Pick<BankAccount, "currency" | "decimals">): Share[] {
    const dice = this.#dice;
    const all = Array.from({ length: dice.whole(0, 3) }, () => this.#share(customer, money));
    const numbers = new Set(all.map(({ document }) => document.number));
    const shares = numbers.size === all.length ? all : all.slice(0, 1);
    if (shares.length === 0 || !dice.chance(0.1)) return shares;
    const amount = Math.ceil(sum(shares.map(({ paid }) => paid)) / dice.whole(3, 20));
    const { currency, decimals } = money;
    const document = this.#credit({ customer, currency, decimals, amount });
    return [...shares, { document, paid: -amount, discount: 0, deduction: 0 }];
  }

  #transaction(account: BankAccount): Transaction {
    const dice = this.#dice;
    const customer = dice.pick(this.customers);
    const shares = this.shares(customer, account);
    const isTraced =
      account.style === "end-to-end id" || (account.style !== "text" && dice.chance(0.5));
    const paid = sum(shares.map((one) => one.paid));
    return {
      customer,
      amount: shares.length === 0 || dice.chance(0.1) ? paid + this.#amount() : paid,
      trace: isTraced ? this.next("TR00") : "",
      text: dice.pick(["Thank you", "payment of invoices", `see advice ${this.next("ADV")}`]),
      shares,
    };
  }

  #reference({ style }: BankAccount): string {
    return style === "bank reference" ? this.next("BK77") : "";
  }

  #payment(account: BankAccount, day: number): Booking[] {
    const dice = this.#dice;
    const size = dice.chance(0.15) ? dice.whole(2, 3) : 1;
    const transactions = Array.from({ length: size }, () => this.#transaction(account));
    const amount = sum(transactions.map((one) => one.amount));
    const booking = { account, day, reference: this.#reference(account), transactions, amount };
    if (size > 1 || !dice.chance(0.15)) return [booking];
    // The same customer pays the same amount again on this day, and says nothing of documents.
    const [first] = transactions;
    if (first === undefined) return [booking];
    const trace = first.trace === "" ? "" : this.next("TR00");
    const twin = { ...first, trace, shares: [] };
    return [booking, { ...booking, reference: this.#reference(account), transactions: [twin] }];
  }

  #other(account: BankAccount, day: number): Booking {
    const other = this.#dice.pick(OTHERS);
    const size = this.#dice.whole(1, 90_000);
    const isDebit = other === "fee" || other === "outgoing";
    const amount = isDebit ? -size : size;
    return {
      account,
      day,
      reference: this.#reference(account),
      transactions: [],
      amount,
      other,
    };
  }

  #return(returned: Booking, last: number): Booking {
    const dice = this.#dice;
    const isPart = dice.chance(0.3);
    const size = isPart ? dice.whole(1, returned.amount) : returned.amount;
    const [first] = returned.transactions;
    const { account } = returned;
    return {
      account,
      day: dice.whole(returned.day, last),
      reference: this.#reference(account),
      transactions: first === undefined ? [] : [{ ...first, amount: -size, shares: [] }],
      amount: -size,
      returned,
    };
  }

  bookings(account: BankAccount, days: number): Booking[] {
    const dice = this.#dice;
    const all: Booking[] = [];
    for (let day = 0; day < days; day += 1) {
      for (let left = dice.whole(0, 4); left > 0; left -= 1) {
        if (dice.chance(0.2)) all.push(this.#other(account, day));
        else all.push(...this.#payment(account, day));
      }
    }
    if (account.style === "text") return all;
    const returnable = all.filter(
      ({ other, transactions }) => other === undefined && transactions.length === 1,
    );
    const returns = returnable
      .filter(() => dice.chance(0.15))
      .map((booking) => this.#return(booking, days - 1));
    return [...all, ...returns];
  }

  registered(days: readonly string[]): Registered[] {
    const dice = this.#dice;
    return Array.from({ length: dice.whole(0, 5) }, () => {
      const customer = dice.pick(this.customers);
      const source = dice.pick<Source>(["cashapp", "cashapp", "iandp", "bpn"]);
      const currency = dice.pick(["EUR", "USD", "JPY"]);
      const money = { currency, decimals: DECIMALS[currency] ?? 2 };
      const all = this.shares(customer, money);
      // A portal and a network list the invoices that are paid.
      const shares = source === "cashapp" ? all : all.filter(({ paid }) => paid > 0);
      return { id: this.next("P-"), source, day: dice.pick(days), customer, ...money, shares };
    }).filter(({ shares }) => shares.length > 0);
  }
}

export const makeTruth = (dice: Dice): Truth => {
  const days = Array.from({ length: dice.whole(1, 3) }, (_, place) =>
    new Date(FIRST_DAY + place * DAY_MS).toISOString().slice(0, 10),
  );
  const maker = new Maker(dice);
  const accounts = maker.accounts();
  const bookings = accounts.flatMap((account) => maker.bookings(account, days.length));
  const registered = maker.registered(days);
  const { customers, documents } = maker;
  return { days, customers, documents, accounts, bookings, registered };
};
