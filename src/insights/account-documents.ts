import { findAgeBucket, listOverdueKeys, parseDay } from "../contract/insights/calendar.ts";
import { contract } from "../contract/index.ts";
import { describeBases } from "../contract/insights/past-balances.ts";
import type { Document } from "../contract/operations/documents.ts";
import { readPapers, readPaperPayments } from "./account-papers.ts";
import { sumByCurrency } from "./currency-totals.ts";
import { balanceOf, daysPastDue } from "./documents.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { countBases, type Paper, standPaperAt } from "./past-balances.ts";
import { type Page, readPages } from "./read-pages.ts";
import { attemptPart, type Part } from "./read-part.ts";
import { toDay, withoutNulls } from "./brief.ts";
import type { Moment } from "./standing.ts";

const { documents } = contract;

const PAGE_ROWS = 1000;
const OLDEST = 5;
const BUCKETS = [0, 30, 60, 90];

const NO_LIST = {
  available: false,
  reason: "This platform does not list documents; documents_get reads one by its number.",
  isAbsent: true,
} as const;

/** The open part of a document. */
type Open = {
  documentNumber: string;
  dueDate: string | null;
  currencyCode: string | null;
  amount: number;
  /** Negative before it is due. */
  daysPastDue: number;
};

const toOpen = (document: Document, asOf: Moment): Open => {
  const { currencyCode, amount } = balanceOf(document);
  const { documentNumber, due_date } = document;
  const days = daysPastDue(document, asOf);
  const dueDate = toDay(due_date);
  return { documentNumber, dueDate, currencyCode, amount: amount ?? 0, daysPastDue: days };
};

const toAging = (all: readonly Open[]): Fields => {
  const keys = listOverdueKeys(BUCKETS);
  const buckets = keys.map((): Open[] => []);
  for (const one of all) buckets[findAgeBucket(BUCKETS, one.daysPastDue)]?.push(one);
  return Object.fromEntries(keys.map((key, place) => [key, sumByCurrency(buckets[place] ?? [])]));
};

const toOldest = ({ documentNumber, dueDate, currencyCode, amount }: Open): Fields =>
  withoutNulls({ documentNumber, dueDate, currencyCode, balance: amount });

/** Returns the figures of documents, those that fall due first before others. */
const toFigures = (all: readonly Open[]): Fields => ({
  count: all.length,
  totals: sumByCurrency(all),
  daysPastDue: toAging(all),
  oldest: all.slice(0, OLDEST).map(toOldest),
});

const readAll = async (context: InsightContext, accountNumber: string) => {
  const all: Document[] = [];
  const maxRows = context.limits.documents;
  const load = async (cursor?: string): Promise<Page<Document>> => {
    const { output } = await context.call(documents.list, {
      account_number: accountNumber,
      status: "open",
      sort: "due_date",
      limit: Math.min(PAGE_ROWS, maxRows),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const { data, pagination } = output;
    const after = pagination.cursor;
    return { rows: data, next: after === null || after === cursor ? undefined : () => load(after) };
  };
  const source = { first: () => load(), maxRows, noun: "documents" };
  const take = (rows: readonly Document[]): void => {
    for (const row of rows) all.push(row);
  };
  const { stopped } = await readPages(context, { ...source, take });
  return { all, stopped };
};

type OpenDocuments = { figures: Fields; stopped: string | undefined; notes: readonly string[] };

/** Whether the balance of a document at a moment follows from its payments. */
const needsPayments = ({ balances }: Paper, { at }: Moment): boolean =>
  !balances.some((one) => one.at <= at);

const readPast = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
): Promise<OpenDocuments> => {
  const { papers, stopped, notes } = await readPapers(context, accountNumber);
  const unpaid = await readPaperPayments(
    context,
    papers.filter((paper) => needsPayments(paper, asOf)),
  );
  const stood = papers.flatMap((paper) => {
    const stand = standPaperAt(paper, asOf);
    return stand?.status === "open" ? [{ paper, stand }] : [];
  });
  const today = asOf.calendar.dayNumber(asOf.at);
  const open = stood
    .map(({ paper: { documentNumber, dueOn }, stand: { currencyCode, balance } }) => ({
      documentNumber,
      dueDate: dueOn,
      currencyCode,
      amount: balance.toNumber(),
      daysPastDue: today - parseDay(dueOn),
    }))
    .toSorted((a, b) => b.daysPastDue - a.daysPastDue);
  return {
    figures: toFigures(open),
    stopped: [...stopped, ...unpaid][0],
    notes: [...notes, ...describeBases(countBases(stood.map(({ stand }) => stand)))],
  };
};

/** Open documents of an account with their aging, now or at a past moment, where the platform can list documents. */
export const readOpenDocuments = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
): Promise<Part<OpenDocuments>> => {
  if (!context.extensions.has(documents.list.id)) return { refused: NO_LIST };
  return attemptPart(context, documents.list, async () => {
    if (asOf.isPast) return readPast(context, accountNumber, asOf);
    const { all, stopped } = await readAll(context, accountNumber);
    return { figures: toFigures(all.map((one) => toOpen(one, asOf))), stopped, notes: [] };
  });
};
