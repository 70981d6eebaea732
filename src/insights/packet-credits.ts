import { contract } from "../contract/index.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Document } from "../contract/operations/documents.ts";
import { readUntil } from "./audit-entries.ts";
import { toDay, withoutNulls } from "./brief.ts";
import { balanceOf, originalAmountOf } from "./documents.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { absent, attemptPart, type Part, showPart, type Unavailable } from "./read-part.ts";
import { selectStanding } from "./standing-payments.ts";

const { documents } = contract;

const PAGE_ROWS = 1000;
const MAX_PAGES = 5;
const SHOWN = 10;

const NO_LIST = absent("This platform does not list documents, so credit notes are not known.");

/** Reads the credit notes of the account that apply to the dispute's document. */
const readCreditNotes = ({ call }: InsightContext, { accountNumber, documentNumber }: Dispute) =>
  readUntil(async (cursor) => {
    const { output } = await call(documents.list, {
      account_number: accountNumber,
      document_type: "credit_note",
      sort: "-invoice_date",
      limit: PAGE_ROWS,
      cursor,
    });
    const data = output.data.filter((one) => one.applies_to_invoice === documentNumber);
    return { output: { ...output, data } };
  }, MAX_PAGES);

const CUT = `creditNotes: only the newest ${MAX_PAGES * PAGE_ROWS} of the account were read`;

const describeCredits = (found: readonly Document[], isCut: boolean): string[] => [
  ...(isCut ? [CUT] : []),
  ...(found.length > SHOWN ? [`creditNotes: ${SHOWN} of ${found.length} are shown`] : []),
];

const toCredit = (note: Document): Fields =>
  withoutNulls({
    documentNumber: note.documentNumber,
    date: toDay(note.invoice_date),
    status: note.status,
    currencyCode: note.original_currency ?? note.currency,
    amount: originalAmountOf(note),
    description: note.description,
  });

/** The credit notes that apply to a document, the newest first, and what of them is not read or shown. */
export type Credits = Part<Document[]> & { notes?: readonly string[] };

/** Reads the credit notes that apply to the document, where the platform lists documents. */
export const readCredits = async (context: InsightContext, dispute: Dispute): Promise<Credits> => {
  if (!context.extensions.has(documents.list.id)) return { refused: NO_LIST };
  const part = await attemptPart(context, documents.list, () => readCreditNotes(context, dispute));
  if (part.refused !== undefined) return part;
  const { rows, isCut } = part.value;
  return { value: rows, notes: describeCredits(rows, isCut) };
};

export const showCredits = (credits: Credits): readonly Fields[] | Unavailable =>
  showPart(credits, (notes) => notes.slice(0, SHOWN).map(toCredit));

/** Whether a payment or credit came after the dispute was opened and covers its amount. */
const settles = (
  dispute: Dispute,
  openedOn: string,
  { currencyCode, date, amount }: Fields,
): boolean => {
  const isSame = (currencyCode ?? dispute.currencyCode) === dispute.currencyCode;
  const isLater = typeof date === "string" && date >= openedOn;
  return isSame && isLater && Math.abs(Number(amount ?? 0)) >= dispute.amount;
};

const ENDED = /revers|void|cancel/i;

/** Whether the document still owes what is disputed: then no payment has settled it. */
const isStillOwed = (dispute: Dispute, document: Part<Document>): boolean => {
  if (document.refused !== undefined) return false;
  const { currencyCode, amount } = balanceOf(document.value);
  return currencyCode === dispute.currencyCode && amount !== null && amount >= dispute.amount;
};

/** Whether a payment left something out: what it paid besides does not cover that. */
const isShort = ({ deductionAmount, shortPay }: Fields): boolean =>
  shortPay === true || Number(deductionAmount ?? 0) > 0;

type Settling = { document: Part<Document>; credits: Credits; calendar: Calendar };

/** Lists later payments and credit notes, each of which covers the disputed amount. */
export const listSettling = (
  dispute: Dispute,
  payments: readonly Fields[],
  { document, credits, calendar }: Settling,
): Fields[] => {
  const openedOn = calendar.toDay(dispute.createDate);
  const paid = (isStillOwed(dispute, document) ? [] : selectStanding(payments))
    .filter((row) => !ENDED.test(String(row["applicationStatus"] ?? "")) && !isShort(row))
    .map(({ paymentId, paymentDate, appliedAmount, currencyCode }) => ({
      kind: "payment",
      paymentId,
      date: toDay(paymentDate as string | null | undefined),
      amount: appliedAmount,
      currencyCode,
    }));
  const credited = (credits.refused === undefined ? credits.value : []).map((note): Fields => ({
    kind: "credit note",
    ...toCredit(note),
  }));
  return [...paid, ...credited].filter((one) => settles(dispute, openedOn, one)).map(withoutNulls);
};
