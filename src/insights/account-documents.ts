import { findAgeBucket, listOverdueKeys } from "../contract/insights/calendar.ts";
import { contract } from "../contract/index.ts";
import type { Document } from "../contract/operations/documents.ts";
import { sumByCurrency } from "./currency-totals.ts";
import { balanceOf, daysPastDue } from "./documents.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { type Page, readPages } from "./read-pages.ts";
import { attemptPart, type Part } from "./read-part.ts";
import { toDay, withoutNulls } from "./brief.ts";
import { type Moment, toMoment } from "./standing.ts";

const { documents } = contract;

const PAGE_ROWS = 1000;
const OLDEST = 5;
const BUCKETS = [0, 30, 60, 90];

const NO_LIST = {
  available: false,
  reason: "This platform does not list documents; documents_get reads one by its number.",
  isAbsent: true,
} as const;

const toMoney = (document: Document) => {
  const { currencyCode, amount } = balanceOf(document);
  return { currencyCode, amount: amount ?? 0 };
};

const toAging = (all: readonly Document[], asOf: Moment): Fields => {
  const keys = listOverdueKeys(BUCKETS);
  const buckets = keys.map((): Document[] => []);
  for (const document of all) {
    buckets[findAgeBucket(BUCKETS, daysPastDue(document, asOf))]?.push(document);
  }
  return Object.fromEntries(
    keys.map((key, place) => [key, sumByCurrency((buckets[place] ?? []).map(toMoney))]),
  );
};

const toOldest = (document: Document): Fields => {
  const { currencyCode, amount } = balanceOf(document);
  const { documentNumber, due_date } = document;
  return withoutNulls({ documentNumber, dueDate: toDay(due_date), currencyCode, balance: amount });
};

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

/** Open documents of an account with their aging, where the platform can list documents. */
export const readOpenDocuments = async (
  context: InsightContext,
  accountNumber: string,
): Promise<Part<{ figures: Fields; stopped: string | undefined }>> => {
  if (!context.extensions.has(documents.list.id)) return { refused: NO_LIST };
  return attemptPart(context, documents.list, async () => {
    const { all, stopped } = await readAll(context, accountNumber);
    const figures = {
      count: all.length,
      totals: sumByCurrency(all.map(toMoney)),
      daysPastDue: toAging(all, toMoment(undefined, context)),
      oldest: all.slice(0, OLDEST).map(toOldest),
    };
    return { figures, stopped };
  });
};
