import { findAgeBucket, listOverdueKeys, parseDay } from "../contract/insights/calendar.ts";
import { contract } from "../contract/index.ts";
import { describeBases } from "../contract/insights/past-balances.ts";
import type { Document } from "../contract/operations/documents.ts";
import type { AccountFigures } from "./account-disputes.ts";
import { readPapers, readPaperPayments } from "./account-papers.ts";
import { filterInTurns, forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import { sumManyByCurrency } from "./currency-totals.ts";
import { balanceOf, daysPastDue } from "./documents.ts";
import { selectItemsOf } from "./groups.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { countBases, type Paper, type Stand, standPaperAt } from "./past-balances.ts";
import { readByCursor } from "./read-pages.ts";
import { absent, attemptPart, type Part } from "./read-part.ts";
import { toDay, withoutNulls } from "./brief.ts";
import type { Moment } from "./standing.ts";

const { documents } = contract;

const PAGE_ROWS = 1000;
const OLDEST = 5;
const BUCKETS = [0, 30, 60, 90];

const NO_LIST = absent(
  "This platform does not list documents; documents_get reads one by its number.",
);

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

const toAging = async (all: readonly Open[]): Promise<Fields> => {
  const keys = listOverdueKeys(BUCKETS);
  const buckets = keys.map((): Open[] => []);
  await forEachInTurns(all, (one) => {
    buckets[findAgeBucket(BUCKETS, one.daysPastDue)]?.push(one);
  });
  const aging: Fields = {};
  for (const [place, key] of keys.entries()) {
    aging[key] = await sumManyByCurrency(buckets[place] ?? []);
  }
  return aging;
};

const toOldest = ({ documentNumber, dueDate, currencyCode, amount }: Open): Fields =>
  withoutNulls({ documentNumber, dueDate, currencyCode, balance: amount });

/** Returns the figures of documents. */
const toFigures = async (all: readonly Open[]): Promise<Fields> => {
  const oldest = await selectItemsOf(
    all,
    { limit: OLDEST },
    (a, b) => b.daysPastDue - a.daysPastDue,
  );
  return {
    count: all.length,
    totals: await sumManyByCurrency(all),
    daysPastDue: await toAging(all),
    oldest: oldest.map(toOldest),
  };
};

const readAll = async (context: InsightContext, accountNumber: string) => {
  const all: Document[] = [];
  const maxRows = context.limits.documents;
  const load = (cursor: string | undefined) =>
    context.call(documents.list, {
      account_number: accountNumber,
      status: "open",
      sort: "due_date",
      limit: Math.min(PAGE_ROWS, maxRows),
      cursor,
    });
  const take = (rows: readonly Document[]): Promise<void> =>
    forEachInTurns(rows, (row) => void all.push(row));
  const { stopped } = await readByCursor(context, load, { maxRows, noun: "documents", take });
  return { all, stopped };
};

/** Whether the balance of a document at a moment follows from its payments. */
const needsPayments = ({ balances }: Paper, { at }: Moment): boolean =>
  !balances.some((one) => one.at <= at);

const readPast = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
): Promise<AccountFigures> => {
  const { papers, stopped, notes } = await readPapers(context, accountNumber);
  const unpaid = await readPaperPayments(
    context,
    await filterInTurns(papers, (paper) => needsPayments(paper, asOf)),
  );
  const today = asOf.calendar.dayNumber(asOf.at);
  const [open, stands]: [Open[], Stand[]] = [[], []];
  await forEachInTurns(papers, (paper) => {
    const stand = standPaperAt(paper, asOf);
    if (stand?.status !== "open") return;
    const { documentNumber, dueOn } = paper;
    const { currencyCode, balance } = stand;
    const days = today - parseDay(dueOn);
    const amount = balance.toNumber();
    open.push({ documentNumber, dueDate: dueOn, currencyCode, amount, daysPastDue: days });
    stands.push(stand);
  });
  return {
    figures: await toFigures(open),
    stopped: [...stopped, ...unpaid][0],
    notes: [...notes, ...describeBases(countBases(stands))],
  };
};

/** Open documents of an account with their aging, now or at a past moment, where the platform can list documents. */
export const readOpenDocuments = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
): Promise<Part<AccountFigures>> => {
  if (!context.extensions.has(documents.list.id)) return { refused: NO_LIST };
  return attemptPart(context, documents.list, async () => {
    if (asOf.isPast) return readPast(context, accountNumber, asOf);
    const { all, stopped } = await readAll(context, accountNumber);
    const open = await mapInTurns(all, (one) => toOpen(one, asOf));
    return { figures: await toFigures(open), stopped, notes: [] };
  });
};
