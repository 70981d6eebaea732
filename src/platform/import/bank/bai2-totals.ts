import { formatDecimal } from "./decimal.ts";
import { parseDigits, type Stated, toDecimal } from "./bai2-fields.ts";
import { findDirection, isTotal } from "./bai2-types.ts";
import { createMalformed, type Warn } from "./file.ts";

type Level = {
  name: "account" | "group" | "file";
  /** Sum of the parts; undefined if some amount could not be read. */
  sum: bigint | undefined;
  records: number;
  parts: number;
};

/** The total of an account's credits or debits as its 03 record states it, and its transactions of that side. */
type Side = { stated: Stated | undefined; sum: bigint; items: number };

// BAI2 2005, type codes: 100 is the total of an account's credits, 400 that of its debits.
const SIDES = { credit: "100", debit: "400" } as const;
const FIRST_CUSTOMIZED = 900;

const createSides = (): Record<keyof typeof SIDES, Side> => ({
  credit: { stated: undefined, sum: 0n, items: 0 },
  debit: { stated: undefined, sum: 0n, items: 0 },
});

type Trailer = { line: number; fields: readonly string[]; currency: string; warn: Warn };

const open = (name: Level["name"]): Level => ({ name, sum: 0n, records: 0, parts: 0 });

const show = (digits: bigint, currency: string): string =>
  currency === "" ? String(digits) : formatDecimal(toDecimal(digits, currency), currency);

/**
 * Compares a total of a 03 record with the transactions of its side. A bank may give a total with some transactions of
 * it or none, so that only a total of as many items as there are transactions must be their sum.
 */
const compareSide = (
  noun: keyof typeof SIDES,
  { stated, sum, items }: Side,
  { line, currency, warn }: Trailer,
): void => {
  if (stated === undefined || items === 0 || stated.digits === sum) return;
  const named = stated.items === undefined ? "" : ` of ${stated.items} items`;
  const message = `ends an account whose 03 record names total ${noun}s${named} of ${show(stated.digits, currency)} (type ${stated.type}), but its ${items} transactions of that side add up to ${show(sum, currency)}`;
  if (stated.items === items) throw createMalformed(`line ${line}`, message);
  warn(`line ${line}`, message);
};

const PARTS = { account: "records", group: "accounts", file: "groups" } as const;

const compareCount = (
  { line, warn }: Trailer,
  text: string | undefined,
  counted: number,
  noun: string,
): void => {
  const named = parseDigits(text ?? "");
  if (named === undefined || Number(named) === counted) return;
  warn(`line ${line}`, `names ${named} ${noun}, but there are ${counted}`);
};

/** Compares a trailer with its level, and returns the sum that counts for the level above. */
const compare = (level: Level, trailer: Trailer): bigint | undefined => {
  const { line, fields, currency, warn } = trailer;
  const { name, sum } = level;
  const named = parseDigits(fields[1] ?? "");
  if (named === undefined) warn(`line ${line}`, `has no control total of the ${name}`);
  else if (sum === undefined) warn(`line ${line}`, "has a control total that cannot be checked");
  else if (sum !== named) {
    throw createMalformed(
      `line ${line}`,
      `names the control total ${show(named, currency)}, but the ${PARTS[name]} of the ${name} add up to ${show(sum, currency)}`,
    );
  }
  const isAccount = name === "account";
  if (!isAccount) compareCount(trailer, fields[2], level.parts, PARTS[name]);
  compareCount(trailer, fields[isAccount ? 2 : 3], level.records, "records");
  return named ?? sum;
};

/** Adds a part to the level above; a sum that could not be read makes that one unknown, too. */
const addPart = (level: Level | undefined, sum: bigint | undefined): void => {
  if (level === undefined) return;
  level.parts += 1;
  level.sum = level.sum === undefined || sum === undefined ? undefined : level.sum + sum;
};

/**
 * Checks the control totals of a file. BAI2 2005: record 49 has the sum of all amounts in the 03, 16 and 88 records of
 * its account, 98 that of the accounts and 99 that of the groups; each has the number of its records, itself included.
 */
export class Bai2Totals {
  readonly #warn: Warn;
  #account: Level | undefined;
  #group: Level | undefined;
  #file = open("file");
  /** Of the open account. */
  #sides = createSides();

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  /** Counts a record, after its level was opened and before it is closed. */
  record(): void {
    for (const level of [this.#file, this.#group, this.#account]) {
      if (level !== undefined) level.records += 1;
    }
  }

  /** Adds the amounts of a 03 record; undefined if they could not be read. */
  summary(amounts: readonly Stated[] | undefined): void {
    this.#amount(amounts?.reduce((sum, { digits }) => sum + digits, 0n));
    for (const side of ["credit", "debit"] as const) {
      this.#sides[side].stated = amounts?.find(({ type }) => type === SIDES[side]);
    }
  }

  /** Adds the amount of a 16 record; undefined if it could not be read. */
  transaction(type: string, digits: bigint | undefined): void {
    this.#amount(digits);
    const direction = findDirection(type);
    if (direction === "none" || isTotal(type)) return;
    const side = this.#sides[direction];
    // Only the bank knows whether its own types count in its totals.
    if (digits === undefined || Number(type) >= FIRST_CUSTOMIZED) side.stated = undefined;
    side.sum += digits ?? 0n;
    side.items += 1;
  }

  /** Takes a deposit, whose items are transactions, too, off the transactions that make the total of credits. */
  divide(digits: bigint): void {
    this.#sides.credit.sum -= digits;
  }

  #amount(digits: bigint | undefined): void {
    const account = this.#account;
    if (account?.sum === undefined) return;
    account.sum = digits === undefined ? undefined : account.sum + digits;
  }

  openFile(): void {
    this.#file = open("file");
    this.#group = undefined;
    this.#account = undefined;
  }

  openGroup(line: number): void {
    this.#leaveAccount(line);
    this.#leaveGroup(line);
    this.#group = open("group");
  }

  openAccount(line: number): void {
    this.#leaveAccount(line);
    this.#account = open("account");
    this.#sides = createSides();
  }

  closeAccount(line: number, fields: readonly string[], currency: string): void {
    if (this.#account === undefined) return;
    const trailer = { line, fields, currency, warn: this.#warn };
    addPart(this.#group, compare(this.#account, trailer));
    for (const side of ["credit", "debit"] as const) compareSide(side, this.#sides[side], trailer);
    this.#account = undefined;
  }

  closeGroup(line: number, fields: readonly string[], currency: string): void {
    this.#leaveAccount(line);
    if (this.#group === undefined) return;
    addPart(this.#file, compare(this.#group, { line, fields, currency, warn: this.#warn }));
    this.#group = undefined;
  }

  closeFile(line: number, fields: readonly string[]): void {
    this.#leaveAccount(line);
    this.#leaveGroup(line);
    compare(this.#file, { line, fields, currency: "", warn: this.#warn });
  }

  #leaveAccount(line: number): void {
    if (this.#account === undefined) return;
    this.#warn(`line ${line}`, "begins before the account has ended");
    addPart(this.#group, this.#account.sum);
    this.#account = undefined;
  }

  #leaveGroup(line: number): void {
    if (this.#group === undefined) return;
    this.#warn(`line ${line}`, "begins before the group has ended");
    addPart(this.#file, this.#group.sum);
    this.#group = undefined;
  }
}
