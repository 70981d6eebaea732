import { contract } from "../contract/index.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import type { ArgsOf } from "../contract/operation.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Document } from "../contract/operations/documents.ts";
import { toDay, withoutNulls } from "./brief.ts";
import { originalAmountOf } from "./documents.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { attemptPart, type Part, showPart, type Unavailable } from "./read-part.ts";
import { selectStanding } from "./standing-payments.ts";

const { documents } = contract;

const PAGE_ROWS = 1000;
const MAX_PAGES = 5;
const SHOWN = 10;

const NO_LIST = {
  available: false,
  reason: "This platform does not list documents, so credit notes are not known.",
  isAbsent: true,
} as const;

/** Reads the credit notes of the account that apply to the dispute's document. */
const readCreditNotes = async (
  context: InsightContext,
  { accountNumber, documentNumber }: Dispute,
): Promise<Document[]> => {
  const found: Document[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args: ArgsOf<typeof documents.list> = {
      account_number: accountNumber,
      document_type: "credit_note",
      sort: "-invoice_date",
      limit: PAGE_ROWS,
      cursor: cursor ?? undefined,
    };
    const { data, pagination } = (await context.call(documents.list, args)).output;
    for (const one of data) if (one.applies_to_invoice === documentNumber) found.push(one);
    if (pagination.cursor === null || pagination.cursor === cursor) break;
    ({ cursor } = pagination);
  }
  return found;
};

const toCredit = (note: Document): Fields =>
  withoutNulls({
    documentNumber: note.documentNumber,
    date: toDay(note.invoice_date),
    status: note.status,
    currencyCode: note.original_currency ?? note.currency,
    amount: originalAmountOf(note),
    description: note.description,
  });

export type Credits = Part<Document[]>;

/** Reads the credit notes that apply to the document, where the platform lists documents. */
export const readCredits = (context: InsightContext, dispute: Dispute): Promise<Credits> =>
  context.extensions.has(documents.list.id)
    ? attemptPart(context, documents.list, () => readCreditNotes(context, dispute))
    : Promise.resolve({ refused: NO_LIST });

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

/** Lists later payments and credit notes, each of which covers the disputed amount. */
export const listSettling = (
  dispute: Dispute,
  payments: readonly Fields[],
  { credits, calendar }: { credits: Credits; calendar: Calendar },
): Fields[] => {
  const openedOn = calendar.toDay(dispute.createDate);
  const paid = selectStanding(payments)
    .filter(({ applicationStatus }) => !ENDED.test(String(applicationStatus ?? "")))
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
