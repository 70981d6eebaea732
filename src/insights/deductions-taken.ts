import Big from "big.js";
import { MAX_LIST_ITEMS } from "../contract/payments/filter.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { omitNulls } from "./brief.ts";
import { DEDUCTION_FIELDS, type DeductionRow } from "./deduction-match.ts";
import { fold } from "./dispute-names.ts";
import { addToDocument } from "./explained-deductions.ts";
import { addToList } from "./groups.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readPayments } from "./read-payments.ts";
import { createLeftOutRows, isReversal, selectStanding } from "./standing-payments.ts";

const MORE_FIELDS = ["accountNumber", "accountName", "remittanceText"] as const;
const FIELDS = [...DEDUCTION_FIELDS, ...MORE_FIELDS];

/** The fields of a row of cash application that tell what it left out. */
type Row = DeductionRow & Record<(typeof MORE_FIELDS)[number], string | null>;

/** The amount that a payment left out of a document: the deduction, else the unpaid part of a short payment. */
export type Deduction = {
  accountNumber: string | null;
  accountName: string | null;
  documentNumber: string;
  paymentId: string | null;
  paymentDate: string | null;
  amount: number;
  currencyCode: string;
  deductionReasonCode: string | null;
  text: string | null;
};

const ROWS_PER_TURN = 500;

const findShortfall = (row: Row): number => {
  const { deductionAmount, shortPay, invoiceAmount, appliedAmount, discountTaken } = row;
  if (deductionAmount !== null && deductionAmount !== 0) return deductionAmount;
  // An instalment leaves a part unpaid, too, so that only what is marked as short counts.
  if (shortPay !== true || invoiceAmount === null || appliedAmount === null) return 0;
  return new Big(invoiceAmount)
    .minus(appliedAmount)
    .minus(discountTaken ?? 0)
    .toNumber();
};

const toDeductions = (row: Row): Deduction[] => {
  const amount = findShortfall(row);
  if (amount <= 0 || row.documentNumber === null) return [];
  return [
    {
      accountNumber: row.accountNumber,
      accountName: row.accountName,
      documentNumber: row.documentNumber,
      paymentId: row.paymentId,
      paymentDate: row.paymentDate,
      amount,
      currencyCode: row.currencyCode ?? "",
      deductionReasonCode: row.deductionReasonCode,
      text: row.remittanceText,
    },
  ];
};

const toDays = (from: string | undefined, to: string | undefined): Fields =>
  from === undefined && to === undefined ? {} : { paymentDate: omitNulls({ gte: from, lte: to }) };

/** Selects deductions within days, and the reversals that can undo them: a payment comes back on a later day. */
const toKinds = (deducted: Fields, reversed: Fields): Fields => ({
  or: [
    { deductionAmount: { gt: 0 }, ...deducted },
    { shortPay: { eq: true }, ...deducted },
    { applicationStatus: { eq: "reversed" }, ...reversed },
  ],
});

type Conditions = {
  /** First and last day of payment. */
  from?: string | undefined;
  to?: string | undefined;
  accountName?: string | undefined;
  accountNumber?: string | undefined;
  currencyCode?: string | undefined;
  /** The customers' codes, of which letter case does not count. */
  codes?: readonly string[] | undefined;
};

/** Whether conditions may select some of the deductions of a document in a currency only. */
const splitsDocuments = ({ from, to, accountName, accountNumber, codes }: Conditions): boolean =>
  [from, to, accountName, accountNumber, codes].some((condition) => condition !== undefined);

/** Whether conditions select some deductions of the tenant only. */
export const isNarrow = (conditions: Conditions): boolean =>
  conditions.currencyCode !== undefined || splitsDocuments(conditions);

/**
 * Selects the codes in any letter case. The filters have no operator for this, so these two also select longer codes,
 * whose votes are counted under codes of their own.
 */
const toCodes = (codes: readonly string[]): Fields => ({
  and: [
    {
      or: codes.map((code) => ({ deductionReasonCode: { startsWith: code, endsWith: code } })),
    },
  ],
});

const toFilters = (conditions: Conditions): Fields => {
  const { from, to, accountName, accountNumber, currencyCode, codes } = conditions;
  return {
    ...toKinds(toDays(from, to), toDays(from, undefined)),
    ...(accountName === undefined ? {} : { accountName: { contains: accountName } }),
    ...(accountNumber === undefined ? {} : { accountNumber: { eq: accountNumber } }),
    ...(currencyCode === undefined ? {} : { currencyCode: { eq: currencyCode } }),
    ...(codes === undefined ? {} : toCodes(codes)),
  };
};

const isWithinDays = (
  { from, to }: Conditions,
  { paymentDate }: Pick<Row, "paymentDate">,
): boolean =>
  (from === undefined && to === undefined) ||
  (paymentDate !== null &&
    (from === undefined || paymentDate >= from) &&
    (to === undefined || paymentDate <= to));

type Filtered = Pick<Row, "paymentDate" | "accountNumber" | "accountName" | "currencyCode">;

/** Whether a row fulfills the conditions: whole documents are read, also rows beyond these. */
const isSelected = (conditions: Conditions, row: Filtered): boolean => {
  const { accountName, accountNumber, currencyCode } = conditions;
  return (
    isWithinDays(conditions, row) &&
    (accountName === undefined || fold(row.accountName ?? "").includes(fold(accountName))) &&
    (accountNumber === undefined || row.accountNumber === accountNumber) &&
    (currencyCode === undefined || row.currencyCode === currencyCode)
  );
};

type RowsByDocument = Map<string | null, Row[]>;

const readRows = (context: InsightContext, filters: Fields, rows: RowsByDocument) =>
  readPayments(context, { source: "cashapp", fields: FIELDS, filters }, (page) =>
    forEachInTurns(page as unknown as readonly Row[], (row) =>
      addToList(rows, row.documentNumber, row),
    ),
  );

/**
 * Reads documents with reversals or disputes again, with the rows of all days, accounts and codes: a reversal within the
 * days may undo a payment before them, and a dispute may explain a deduction that the conditions do not select. Returns
 * why not all were read.
 */
const completeDocuments = async (
  context: InsightContext,
  conditions: Conditions,
  rows: RowsByDocument,
  isDisputed: (documentNumber: string) => boolean,
): Promise<string | undefined> => {
  if (!splitsDocuments(conditions)) return undefined;
  const numbers: string[] = [];
  for (const [number, own] of rows) {
    if (number === null) continue;
    if (isDisputed(number) || own.some(isReversal)) numbers.push(number);
  }
  for (let at = 0; at < numbers.length; at += MAX_LIST_ITEMS) {
    const some = numbers.slice(at, at + MAX_LIST_ITEMS);
    const whole: RowsByDocument = new Map();
    const filters = { ...toKinds({}, {}), documentNumber: { in: some } };
    const { stopped } = await readRows(context, filters, whole);
    if (stopped !== undefined) return stopped;
    for (const [number, own] of whole) rows.set(number, own);
  }
  return undefined;
};

const compareDays = (a: Row, b: Row): number => {
  const [one, other] = [a.paymentDate ?? "", b.paymentDate ?? ""];
  return one === other ? 0 : one < other ? -1 : 1;
};

/**
 * Reads deductions by document and currency, the earliest first; rows of payments that came back deduct nothing. Those
 * of disputed documents are all there, and `isSelected` returns whether one fulfills the conditions.
 */
export const readDeductions = async (
  context: InsightContext,
  args: Conditions,
  isDisputed: (documentNumber: string) => boolean,
) => {
  const rows: RowsByDocument = new Map();
  const read = await readRows(context, toFilters(args), rows);
  const stopped = read.stopped ?? (await completeDocuments(context, args, rows, isDisputed));
  const documents = new Map<string, Deduction[]>();
  const leftOut = createLeftOutRows();
  await forEachInTurns(
    rows.values(),
    (own) => {
      const selected = selectStanding(own);
      // Most documents have one row.
      const standing = selected.length > 1 ? selected.toSorted(compareDays) : selected;
      const suggested = own.filter(
        (row) => row.matchMethod === "suggested" && isSelected(args, row),
      );
      // Reversals are read of all documents, so that their number would say nothing.
      leftOut.count(suggested);
      for (const row of standing) {
        for (const deduction of toDeductions(row)) addToDocument(documents, deduction);
      }
    },
    ROWS_PER_TURN,
  );
  // Without conditions that split documents none is read again.
  const isWhole = !splitsDocuments(args);
  const holds = (one: Deduction): boolean => isWhole || isSelected(args, one);
  return { documents, stopped, notes: leftOut.notes(), isSelected: holds };
};
