import Big from "big.js";
import { toAmounts } from "../contract/document-amounts.ts";
import { utcCalendar } from "../contract/insights/calendar.ts";
import { contract } from "../contract/index.ts";
import type { DocumentWithClosing, ListedDocument } from "../contract/operations/documents.ts";
import { MAX_LIST_ITEMS } from "../contract/payments/filter.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { askClosure } from "./document-reader.ts";
import type { InsightContext } from "./insight.ts";
import type { Paper } from "./past-balances.ts";
import { numberOf, type Row, textOf } from "./payment-measures.ts";
import { readDisputes } from "./read-disputes.ts";
import { readByCursor } from "./read-pages.ts";
import { attemptPart, readPart } from "./read-part.ts";
import { readPayments } from "./read-payments.ts";

const { disputes, documents, payments } = contract;

const PAGE_ROWS = 1000;
const CONCURRENT = 8;
/** Documents that are read one by one, where the platform does not list them. */
const MOST_READ = 150;

/** The documents of accounts with their past, as far as the platform tells it. */
export type Papers = {
  papers: Paper[];
  /** Why documents or payments are missing; empty where all were read. */
  stopped: string[];
  /** Sentences about what the platform does not tell. */
  notes: string[];
};

/** The parameter for the history, as the platform announces it. */
const HISTORY = `${documents.list.id}.${documents.list.additions?.name}`;

const NOTES = {
  noList:
    "This platform does not list documents: only those that payments or disputes of the account name are known.",
  noHistory:
    "This platform does not record balances: those of past days are the original amounts less payments.",
  noClosing: "The platform does not tell when a document was closed: its last change counts.",
};

const toClosures = ({
  status,
  updatedAt,
  history,
  ...document
}: ListedDocument & DocumentWithClosing): Paper["closures"] => {
  if (history !== undefined) {
    return history.closures.map(({ closedAt, closure_reason: reason }) => ({
      at: Date.parse(closedAt),
      reason,
    }));
  }
  return status === "closed"
    ? [{ at: Date.parse(document.closedAt ?? updatedAt), reason: null }]
    : [];
};

const toPaper = (document: ListedDocument & DocumentWithClosing): Paper => {
  const { balance, original, currencyCode } = toAmounts(document);
  return {
    documentNumber: document.documentNumber,
    accountNumber: document.account_number,
    type: document.document_type,
    issuedOn: utcCalendar.toDay(document.invoice_date),
    dueOn: utcCalendar.toDay(document.due_date),
    status: document.status,
    currencyCode,
    balance,
    original,
    closures: toClosures(document),
    balances: (document.history?.balances ?? []).map(({ recordedAt, currency, ...one }) => ({
      ...one,
      at: Date.parse(recordedAt),
      currencyCode: currency,
    })),
    payments: [],
  };
};

const listPapers = async (context: InsightContext, accountNumber: string): Promise<Papers> => {
  const papers: Paper[] = [];
  const hasHistory = context.extensions.has(HISTORY);
  const maxRows = context.limits.documents;
  const load = (cursor: string | undefined) =>
    context.call(documents.list, {
      account_number: accountNumber,
      limit: Math.min(PAGE_ROWS, maxRows),
      ...(hasHistory ? { history: true } : {}),
      cursor,
    });
  const take = (rows: readonly ListedDocument[]): Promise<void> =>
    forEachInTurns(rows, (row) => void papers.push(toPaper(row)));
  const { stopped } = await readByCursor(context, load, { maxRows, noun: "documents", take });
  const notes = hasHistory ? [] : [NOTES.noHistory, NOTES.noClosing];
  return { papers, stopped: stopped === undefined ? [] : [stopped], notes };
};

const PAYMENT_FIELDS = [
  "paymentId",
  "documentNumber",
  "currencyCode",
  "appliedAmount",
  "discountTaken",
  "paymentDate",
  "depositDate",
  "applicationStatus",
  "matchMethod",
];

/** Finds the documents that payments and disputes of an account name. */
const findNumbers = async (context: InsightContext, accountNumber: string) => {
  const numbers = new Set<string>();
  const query = {
    source: "cashapp" as const,
    fields: ["documentNumber"],
    filters: { accountNumber: { eq: accountNumber } },
  };
  const parts = await Promise.all([
    attemptPart(context, payments.query, () =>
      readPayments(context, query, (rows) =>
        forEachInTurns(rows, (row) => {
          const number = textOf(row["documentNumber"]);
          if (number !== null) numbers.add(number);
        }),
      ),
    ),
    attemptPart(context, disputes.list, () =>
      readDisputes(context, { AccountNumber: accountNumber }, (rows) =>
        forEachInTurns(rows, ({ documentNumber }) => void numbers.add(documentNumber)),
      ),
    ),
  ]);
  const stopped = parts.flatMap((part) => {
    const why = part.refused === undefined ? part.value.stopped : part.refused.reason;
    return why === undefined ? [] : [why];
  });
  return { numbers: [...numbers], stopped };
};

const findPapers = async (context: InsightContext, accountNumber: string): Promise<Papers> => {
  const { numbers, stopped } = await findNumbers(context, accountNumber);
  const papers: Paper[] = [];
  const refusals = new Set<string>();
  const read = (number: string) =>
    readPart(context, documents.get, { document_number: number, ...askClosure(context) });
  for await (const part of mapConcurrent(numbers.slice(0, MOST_READ), CONCURRENT, read)) {
    if (part.refused === undefined) {
      if (part.value.account_number === accountNumber) papers.push(toPaper(part.value));
    } else if (!part.refused.isAbsent) refusals.add(part.refused.reason);
  }
  const left = numbers.length - MOST_READ;
  return {
    papers,
    stopped: [
      ...stopped,
      ...[...refusals].map((reason) => `Documents were not read: ${reason}`),
      ...(left > 0
        ? [`${left} documents were not read: an answer reads at most ${MOST_READ}.`]
        : []),
    ],
    notes: [NOTES.noList, NOTES.noHistory, NOTES.noClosing],
  };
};

/** Adds a row of cash application to its document, if it counts: neither a suggestion nor a return without its sign. */
const addPayment = (byNumber: ReadonlyMap<string, Paper>, row: Row): void => {
  const paper = byNumber.get(textOf(row["documentNumber"]) ?? "");
  const day = textOf(row["paymentDate"]) ?? textOf(row["depositDate"]);
  if (paper === undefined || day === null || row["matchMethod"] === "suggested") return;
  const applied = numberOf(row["appliedAmount"]);
  if (row["applicationStatus"] === "reversed" && applied > 0) return;
  const currency = textOf(row["currencyCode"]) ?? paper.currencyCode;
  if (paper.currencyCode !== null && currency !== paper.currencyCode) return;
  const amount = new Big(applied).plus(numberOf(row["discountTaken"]));
  paper.payments.push({ paymentId: textOf(row["paymentId"]), day, amount });
};

/**
 * Reads the payments of documents into these. Returns why reading stopped, if it did.
 *
 * @throws {Problem} the platform's refusal
 */
export const readPaperPayments = async (
  context: InsightContext,
  papers: readonly Paper[],
): Promise<string[]> => {
  const byNumber = new Map(papers.map((paper) => [paper.documentNumber, paper]));
  const numbers = [...byNumber.keys()];
  for (let from = 0; from < numbers.length; from += MAX_LIST_ITEMS) {
    const some = numbers.slice(from, from + MAX_LIST_ITEMS);
    const filters = { documentNumber: { in: some } };
    const query = { source: "cashapp" as const, fields: PAYMENT_FIELDS, filters };
    const { stopped } = await readPayments(context, query, (rows) =>
      forEachInTurns(rows, (row) => addPayment(byNumber, row)),
    );
    if (stopped !== undefined) return [stopped];
  }
  await forEachInTurns(papers, ({ payments: own }) => {
    own.sort((a, b) => (a.day < b.day ? -1 : 1));
  });
  return [];
};

/**
 * Reads the documents of an account with what is known of their past: all of them where the platform lists them, else
 * those that payments and disputes name. Their payments are read separately.
 *
 * @throws {Problem} the platform's refusal
 */
export const readPapers = (context: InsightContext, accountNumber: string): Promise<Papers> =>
  context.extensions.has(documents.list.id)
    ? listPapers(context, accountNumber)
    : findPapers(context, accountNumber);
