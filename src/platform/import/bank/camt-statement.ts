import { parseIsoDay } from "../dates.ts";
import { parseMoney, readMoney } from "./camt-money.ts";
import { Big, formatDecimal, parseDecimal } from "./decimal.ts";
import type { Message, MessageKind } from "./entry.ts";
import { createMalformed, type Warn } from "./file.ts";
import { type Element, findAll, readFlag, readText } from "./xml.ts";

const KINDS: Readonly<Record<string, MessageKind>> = {
  BkToCstmrAcctRpt: "camt.052",
  BkToCstmrStmt: "camt.053",
  BkToCstmrDbtCdtNtfctn: "camt.054",
};

export const MESSAGES: readonly string[] = Object.keys(KINDS);

export type Statement = {
  message: Message;
  account: string;
  /** The name of the account's owner, or "". */
  owner: string;
  /** The day of an entry. */
  findDay(entry: Element): string;
};

const readIdentity = (statement: Element): string[] => {
  const texts = (element: Element | undefined, ...paths: readonly string[]): string[] =>
    paths.map((path) => (element === undefined ? "" : readText(element, path)));
  const pages = ["RptPgntn/PgNb", "StmtPgntn/PgNb", "NtfctnPgntn/PgNb"];
  return [
    ...texts(statement.parent, "GrpHdr/MsgId", "GrpHdr/CreDtTm", "GrpHdr/MsgPgntn/PgNb"),
    ...texts(statement, "Id", "ElctrncSeqNb", "LglSeqNb", "CreDtTm"),
    texts(statement, ...pages).find((text) => text !== "") ?? "",
  ];
};

const readBalanceCode = (balance: Element): string =>
  readText(balance, "Tp/CdOrPrtry/Cd", "Tp/CdOrPrtry/Prtry");

// ISO 20022 balance types: closing booked, interim booked, closing available, interim available.
const CLOSING = ["CLBD", "ITBD", "CLAV", "ITAV"];

const parseDay = (text: string, line: number): string => {
  // The day counts as written, and the time and offset after it are ignored.
  const day = parseIsoDay(text.slice(0, 10));
  if (day === undefined) throw createMalformed(`line ${line}`, `has the date ${text.slice(0, 30)}`);
  return day;
};

const findClosingDay = (statement: Element): string => {
  const balances = findAll(statement, "Bal");
  for (const code of CLOSING) {
    const balance = balances.find((one) => readBalanceCode(one) === code);
    const text = balance === undefined ? "" : readText(balance, "Dt/Dt", "Dt/DtTm");
    if (text !== "") return text;
  }
  return "";
};

/** Reads what the entries of a statement share. Its header precedes its entries in every version. */
export const readStatement = (element: Element): Statement => ({
  message: {
    kind: KINDS[element.parent?.name ?? ""] ?? "camt.053",
    identity: readIdentity(element),
  },
  account: readText(element, "Acct/Id/IBAN", "Acct/Id/Othr/Id"),
  owner: readText(element, "Acct/Ownr/Nm", "Acct/Ownr/Pty/Nm"),
  findDay(entry) {
    const paths = ["ValDt/Dt", "ValDt/DtTm", "BookgDt/Dt", "BookgDt/DtTm"];
    const text = readText(entry, ...paths) || findClosingDay(element);
    if (text === "") {
      throw createMalformed(`line ${entry.line}`, "has no date, and no closing balance has one");
    }
    return parseDay(text, entry.line);
  },
});

type Count = { entries: number; sum: Big };
const createCount = (): Count => ({ entries: 0, sum: new Big(0) });

/** Counts and adds up entries as TxsSummry does: all of them, and the booked ones. */
export type StatementTotals = {
  all: { credit: Count; debit: Count };
  booked: { credit: Count; debit: Count };
  currencies: Set<string>;
};

export const createTotals = (): StatementTotals => ({
  all: { credit: createCount(), debit: createCount() },
  booked: { credit: createCount(), debit: createCount() },
  currencies: new Set(),
});

export type Counted = { total: Big; currency: string; isCredit: boolean; isBooked: boolean };

export const countEntry = (
  totals: StatementTotals,
  { total, currency, isCredit, isBooked }: Counted,
): void => {
  totals.currencies.add(currency);
  for (const counts of isBooked ? [totals.all, totals.booked] : [totals.all]) {
    const count = counts[isCredit ? "credit" : "debit"];
    count.entries += 1;
    count.sum = count.sum.plus(total);
  }
};

const isPartial = (statement: Element): boolean =>
  ["RptPgntn", "StmtPgntn", "NtfctnPgntn"].some((name) => {
    const number = readText(statement, `${name}/PgNb`);
    return readFlag(statement, `${name}/LastPgInd`) === false || !["", "1"].includes(number);
  });

type Check = { summary: Element; counts: readonly Count[]; noun: string };

const checkSummary = (
  { summary, counts, noun }: Check,
  refuse: (line: number, message: string) => void,
  warn: Warn,
): void => {
  const sum = parseDecimal(readText(summary, "Sum"));
  const text = readText(summary, "NbOfNtries");
  const number = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  const [all] = counts;
  if (all === undefined) return;
  const { line } = summary;
  if (sum !== undefined && !counts.some((count) => count.sum.eq(sum))) {
    const named = number === undefined ? "" : ` in ${number} entries`;
    const message = `names ${noun} of ${sum.toFixed(2)}${named}, but ${all.entries} entries add up to ${all.sum.toFixed(2)}`;
    refuse(line, message);
    return;
  }
  if (number === undefined || counts.some(({ entries }) => entries === number)) return;
  const message = `names ${number} ${noun}, but there are ${all.entries}`;
  // Without a sum, only the number tells that entries are missing.
  if (sum === undefined) refuse(line, message);
  else warn(`line ${line}`, message);
};

const add = (one: Count, other: Count): Count => ({
  entries: one.entries + other.entries,
  sum: one.sum.plus(other.sum),
});

/** Compares the net sum of all entries: version 2 has TtlNetNtryAmt with CdtDbtInd beside it, later ones TtlNetNtry. */
const checkNet = (
  summary: Element,
  { all, booked }: StatementTotals,
  refuse: (line: number, message: string) => void,
): void => {
  const [later] = findAll(summary, "TtlNetNtry");
  const named = parseDecimal(readText(summary, "TtlNetNtryAmt", "TtlNetNtry/Amt"));
  if (named === undefined) return;
  const sign = readText(later ?? summary, "CdtDbtInd");
  const isNet = ({ credit, debit }: StatementTotals["all"]): boolean => {
    const net = credit.sum.minus(debit.sum);
    return sign === "" ? net.abs().eq(named.abs()) : net.eq(sign === "DBIT" ? named.neg() : named);
  };
  if (isNet(all) || isNet(booked)) return;
  const net = all.credit.sum.minus(all.debit.sum);
  const mark = sign === "" ? "" : ` ${sign}`;
  refuse(
    summary.line,
    `names the net sum ${named.toFixed(2)}${mark}, but the entries make ${net.toFixed(2)}`,
  );
};

/**
 * Checks TxsSummry: its numbers and sums are those of the entries; a page of several has only a part of them. Then checks
 * the balances.
 */
export const checkTotals = (statement: Element, totals: StatementTotals, warn: Warn): void => {
  const partial = isPartial(statement);
  const refuse = (line: number, message: string): void => {
    if (!partial) throw createMalformed(`line ${line}`, message);
    warn(`line ${line}`, `${message}; the statement is one of several pages`);
  };
  const { all, booked } = totals;
  const checks: [name: string, noun: string, counts: Count[]][] = [
    ["TtlCdtNtries", "credits", [all.credit, booked.credit]],
    ["TtlDbtNtries", "debits", [all.debit, booked.debit]],
    ["TtlNtries", "entries", [add(all.credit, all.debit), add(booked.credit, booked.debit)]],
  ];
  for (const [name, noun, counts] of checks) {
    for (const summary of findAll(statement, "TxsSummry", name)) {
      checkSummary({ summary, counts, noun }, refuse, warn);
      if (name === "TtlNtries") checkNet(summary, totals, refuse);
    }
  }
  checkBalances(statement, totals, warn);
};

const findBalance = (statement: Element, codes: readonly string[]) => {
  for (const balance of findAll(statement, "Bal")) {
    if (!codes.includes(readBalanceCode(balance))) continue;
    const [amount] = findAll(balance, "Amt");
    if (amount === undefined) continue;
    const { value, currency } = parseMoney(amount);
    const isDebit = readText(balance, "CdtDbtInd") === "DBIT";
    return { value: isDebit ? value.neg() : value, currency, line: balance.line };
  }
  return undefined;
};

/**
 * Compares opening balance, movements and closing balance of a statement. The result is only a warning, because banks
 * leave entries out of statements that are filtered, and round amounts of more decimals than the currency has.
 */
const checkBalances = (
  statement: Element,
  { all, booked, currencies }: StatementTotals,
  warn: Warn,
): void => {
  if (statement.name !== "Stmt" || isPartial(statement)) return;
  const opening = findBalance(statement, ["OPBD", "PRCD"]);
  const closing = findBalance(statement, ["CLBD"]);
  if (opening === undefined || closing === undefined) return;
  const { currency } = closing;
  const others = [...currencies].filter((one) => one !== currency);
  if (opening.currency !== currency || others.length > 0) return;
  const [expected, withPending] = [booked, all].map(({ credit, debit }) =>
    opening.value.plus(credit.sum).minus(debit.sum),
  ) as [Big, Big];
  if (expected.eq(closing.value) || withPending.eq(closing.value)) return;
  warn(
    `line ${closing.line}`,
    `names the closing balance ${formatDecimal(closing.value, currency)}, but opening balance and entries make ${formatDecimal(expected, currency)}`,
  );
};

/** Warns if a batch names another number of transactions, or another sum, than it has. */
export const checkBatch = (entry: Element, transactions: number, warn: Warn): void => {
  for (const batch of findAll(entry, "NtryDtls", "Btch")) {
    const text = readText(batch, "NbOfTxs");
    if (transactions === 0 || !/^\d{1,15}$/.test(text) || Number(text) === transactions) continue;
    warn(`line ${batch.line}`, `names ${text} transactions, but there are ${transactions}`);
  }
  readMoney(entry, "NtryDtls/Btch/TtlAmt");
};
