import type Big from "big.js";
import { findCreditsOf, findDocumentsByKeys } from "../../../store/queries/documents.ts";
import { isSameNumber, toNumberKey } from "../../../../contract/number-key.ts";
import { type Applied, sumApplied } from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import type { DocumentRow } from "../../../store/tables/schema.ts";
import { parseDocument } from "../../ingest/stored.ts";
import { atLeastZero, smallest, toBig, ZERO } from "./values.ts";

/** A document with what is paid of it. Amounts of a credit note are those by which it reduces. */
export type Paper = {
  row: DocumentRow;
  number: string;
  account: string;
  currency: string;
  isCredit: boolean;
  /** The total, and the balance that was stated last. */
  original: Big | undefined;
  stated: Big | undefined;
  poNumber: string | undefined;
  /** Applied with discounts, in all and since the balance was stated. */
  paid: Big;
  paidSince: Big;
  /** Deductions that stand on its rows. */
  deducted: Big;
  /** The credit notes that reduce it. */
  credits: Paper[];
};

const toPaper = (row: DocumentRow, currency: string): Paper => {
  const fields = parseDocument(row);
  const total = toBig(
    fields.original_denomination ?? fields.original_denomination_in_original_currency,
  );
  const stated = toBig(fields.denomination ?? fields.denomination_in_original_currency);
  const isCredit = row.document_type === "credit_note" || (total ?? stated ?? ZERO).lt(0);
  const sized = (amount: Big | undefined) => (isCredit ? amount?.abs() : amount);
  return {
    row,
    number: row.document_number,
    account: row.account_number,
    currency: row.currency ?? currency,
    isCredit,
    original: sized(total),
    stated: sized(stated),
    poNumber: fields.po_number,
    paid: ZERO,
    paidSince: ZERO,
    deducted: ZERO,
    credits: [],
  };
};

/** Returns what is left of a document; undefined if it has no amount. */
const leftOf = ({ original, stated, paid, paidSince }: Paper): Big | undefined => {
  const byTotal = original?.minus(paid);
  const byBalance = stated?.minus(paidSince);
  const first = byTotal ?? byBalance;
  return first === undefined ? undefined : atLeastZero(smallest(first, byBalance));
};

/** Returns what earlier payments and credits left of a document; undefined if it has no amount. */
export const openOf = (paper: Paper): Big | undefined => {
  const left = leftOf(paper);
  const credits = paper.credits.map((credit) => leftOf(credit) ?? ZERO);
  return left === undefined
    ? undefined
    : atLeastZero(credits.reduce((open, credit) => open.minus(credit), left));
};

/**
 * Whether a payment of a document is the last one: at most half as much is missing as it paid. Instalments are followed
 * by others of about their size.
 */
export const isFinal = (paid: Big, missing: Big): boolean => missing.times(2).lte(paid);

/** Counts a payment of a document; a negative amount takes one back. */
export const pay = (paper: Paper, amount: Big): void => {
  paper.paid = paper.paid.plus(amount);
  paper.paidSince = paper.paidSince.plus(amount);
};

const countApplied = (paper: Paper, applied: Applied): void => {
  if (applied.currency !== null && applied.currency !== paper.currency) return;
  const sign = paper.isCredit ? -1 : 1;
  const paid = (toBig(applied.applied) ?? ZERO).plus(toBig(applied.discount) ?? ZERO).times(sign);
  paper.paid = paper.paid.plus(paid);
  if (applied.isSince) paper.paidSince = paper.paidSince.plus(paid);
  paper.deducted = paper.deducted.plus(toBig(applied.deduction) ?? ZERO);
};

const keysOf = ({ document_number, invoice_num }: DocumentRow): string[] => [
  ...new Set([document_number, ...(invoice_num === null ? [] : [invoice_num])].map(toNumberKey)),
];

/** Whether a number is that of a document: documents of one key can have different numbers. */
const isNumberOf = ({ row: { document_number, invoice_num } }: Paper, number: string): boolean =>
  isSameNumber(document_number, number) ||
  (invoice_num !== null && isSameNumber(invoice_num, number));

/** Returns the keys under which payments may name a document. */
export const listDocumentKeys = (row: DocumentRow): string[] =>
  keysOf(row).filter((key) => key !== "");

/** The documents that payments name or mention, with what is open of them. */
export type Ledger = {
  /** Returns the documents that a number may mean; those that have exactly this number, if there are any. */
  find(number: string): readonly Paper[];
};

const isWritten = ({ row }: Paper, number: string): boolean =>
  row.document_number === number || row.invoice_num === number;

type LedgerNeeds = {
  tenantId: string;
  /** Of documents that name none. */
  currency: string;
  /** Payments that do not count as earlier ones. */
  exceptPaymentIds: readonly string[];
};

/** Reads the documents that may be meant by numbers. */
export const readLedger = async (
  db: Db,
  { tenantId, currency, exceptPaymentIds }: LedgerNeeds,
  numbers: readonly string[],
): Promise<Ledger> => {
  const keys = [...new Set(numbers.map(toNumberKey))].filter((key) => key !== "");
  const rows = await findDocumentsByKeys(db, tenantId, { keys, numbers: [...new Set(numbers)] });
  const found = new Map(rows.map((row) => [row.document_number, toPaper(row, currency)]));
  const byKey = new Map<string, Paper[]>();
  for (const paper of found.values()) {
    for (const key of keysOf(paper.row)) byKey.set(key, [...(byKey.get(key) ?? []), paper]);
  }
  const credits = await findCreditsOf(db, tenantId, [...byKey.keys()]);
  const papers = new Map(found);
  for (const row of credits) {
    const credit = papers.get(row.document_number) ?? toPaper(row, currency);
    papers.set(credit.number, credit);
    const reduces = parseDocument(row).applies_to_invoice ?? "";
    const reduced = (byKey.get(row.applies_to_key ?? "") ?? []).filter(
      (paper) =>
        !paper.isCredit &&
        paper.account === credit.account &&
        paper.currency === credit.currency &&
        isNumberOf(paper, reduces),
    );
    if (reduced.length === 1) reduced[0]?.credits.push(credit);
  }
  for (const applied of await sumApplied(db, tenantId, [...papers.keys()], exceptPaymentIds)) {
    const paper = papers.get(applied.number);
    if (paper !== undefined) countApplied(paper, applied);
  }
  return {
    find(number) {
      const all = (byKey.get(toNumberKey(number)) ?? []).filter((one) => isNumberOf(one, number));
      const exact = all.filter((paper) => isWritten(paper, number.trim()));
      return exact.length > 0 ? exact : all;
    },
  };
};
