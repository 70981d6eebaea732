import { formatDecimal } from "./decimal.ts";
import { parseDigits, toDecimal } from "./bai2-fields.ts";
import { createMalformed, type Warn } from "./file.ts";

type Level = {
  name: "account" | "group" | "file";
  /** Sum of the parts; undefined if some amount could not be read. */
  sum: bigint | undefined;
  records: number;
  parts: number;
};

type Trailer = { line: number; fields: readonly string[]; currency: string; warn: Warn };

const open = (name: Level["name"]): Level => ({ name, sum: 0n, records: 0, parts: 0 });

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
    const format = (digits: bigint): string =>
      currency === "" ? String(digits) : formatDecimal(toDecimal(digits, currency), currency);
    throw createMalformed(
      `line ${line}`,
      `names the control total ${format(named)}, but the ${PARTS[name]} of the ${name} add up to ${format(sum)}`,
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

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  /** Counts a record, after its level was opened and before it is closed. */
  record(): void {
    for (const level of [this.#file, this.#group, this.#account]) {
      if (level !== undefined) level.records += 1;
    }
  }

  amount(digits: bigint | undefined): void {
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
  }

  closeAccount(line: number, fields: readonly string[], currency: string): void {
    if (this.#account === undefined) return;
    addPart(this.#group, compare(this.#account, { line, fields, currency, warn: this.#warn }));
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
