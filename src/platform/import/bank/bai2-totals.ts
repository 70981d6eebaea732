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

/**
 * Checks the control totals of a file. BAI2 2005: record 49 has the sum of all amounts in the 03, 16 and 88 records of
 * its account, 98 that of the accounts and 99 that of the groups; each has the number of its records, itself included.
 */
export const createBai2Totals = (warn: Warn) => {
  let account: Level | undefined;
  let group: Level | undefined;
  let file = open("file");
  const addTo = (level: Level | undefined, sum: bigint | undefined): void => {
    if (level === undefined) return;
    level.parts += 1;
    level.sum = level.sum === undefined || sum === undefined ? undefined : level.sum + sum;
  };
  const missEnd = (level: Level | undefined, line: number): void => {
    if (level !== undefined) warn(`line ${line}`, `begins before the ${level.name} has ended`);
  };
  return {
    /** Counts a record, after its level was opened and before it is closed. */
    record(): void {
      file.records += 1;
      if (group !== undefined) group.records += 1;
      if (account !== undefined) account.records += 1;
    },
    amount(digits: bigint | undefined): void {
      if (account?.sum === undefined) return;
      account.sum = digits === undefined ? undefined : account.sum + digits;
    },
    openFile(): void {
      file = open("file");
      group = undefined;
      account = undefined;
    },
    openGroup(line: number): void {
      this.leaveAccount(line);
      missEnd(group, line);
      if (group !== undefined) addTo(file, group.sum);
      group = open("group");
    },
    openAccount(line: number): void {
      this.leaveAccount(line);
      account = open("account");
    },
    leaveAccount(line: number): void {
      missEnd(account, line);
      if (account !== undefined) addTo(group, account.sum);
      account = undefined;
    },
    closeAccount(line: number, fields: readonly string[], currency: string): void {
      if (account === undefined) return;
      addTo(group, compare(account, { line, fields, currency, warn }));
      account = undefined;
    },
    closeGroup(line: number, fields: readonly string[], currency: string): void {
      this.leaveAccount(line);
      if (group === undefined) return;
      addTo(file, compare(group, { line, fields, currency, warn }));
      group = undefined;
    },
    closeFile(line: number, fields: readonly string[]): void {
      this.leaveAccount(line);
      missEnd(group, line);
      compare(file, { line, fields, currency: "", warn });
    },
  };
};
