import Big from "big.js";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import { parseDay } from "../contract/insights/calendar.ts";
import type { DocumentSummaryItem } from "../contract/insights/document-summary.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { callSummary, canSummarize, type InsightContext } from "./insight.ts";
import { type AccountGrouping, type Cell, toCellId } from "./kpi-groups.ts";
import { dayBefore, type KpiPeriod, listMonthsBack } from "./kpi-periods.ts";

const { documents } = contract;

/** Open balances of a group at the end of a day; `current` is not yet due. */
export type Receivables = { total: Big; current: Big; disputed: Big; rows: number };
/** Original amounts of the documents of a group that were issued on some days, less those of credit notes. */
export type Sales = { amount: Big; rows: number };
/** The days whose sales add up to the receivables, and these sales. */
export type Countback = { days: Big; sales: Big };

type ByCell<T> = ReadonlyMap<string, T>;

/** Figures of groups at the ends of a period and within it; undefined where records do not reach back so far. */
export type PeriodDocuments = {
  opening: ByCell<Receivables> | undefined;
  closing: ByCell<Receivables> | undefined;
  sales: ByCell<Sales> | undefined;
  /** Of groups with receivables; a text says why the days are unknown. */
  countback: ByCell<Countback | string>;
};

export type DocumentFacts = {
  /** The day of the first document; undefined if there is none. */
  first: string | undefined;
  periods: ReadonlyMap<KpiPeriod, PeriodDocuments>;
  /** The groups that have figures in some period. */
  cells: ReadonlyMap<string, Cell>;
  /** The currencies of all documents. */
  currencies: readonly (string | null)[];
  truncated: boolean;
  notes: readonly string[];
};

const MOST_MONTHS_BACK = 24;
const PAGE_ITEMS = 200;
const MOST_GROUPS = 10_000;
const CELLS_PER_TURN = 500;
const ZERO = new Big(0);
/** The figures of a group without documents. */
export const NO_RECEIVABLES: Receivables = { total: ZERO, current: ZERO, disputed: ZERO, rows: 0 };
export const NO_SALES: Sales = { amount: ZERO, rows: 0 };

const NO_DOCUMENTS = "This platform does not add up documents.";
const TOO_MANY = `There are more than ${MOST_GROUPS} groups of documents. Group by parent or accountGroup, or leave groupings out.`;

type Arguments = Parameters<typeof callSummary<typeof documents.summary>>[2];

/** Reads all groups of a summary, page by page. */
const readGroups = async (context: InsightContext, args: Arguments) => {
  const items: DocumentSummaryItem[] = [];
  for (;;) {
    const offset = items.length === 0 ? {} : { offset: items.length };
    const result = await callSummary(context, documents.summary, {
      ...args,
      ...offset,
      limit: PAGE_ITEMS,
    });
    if (result.itemsTotal > MOST_GROUPS) throw new Problem("invalid_request", TOO_MANY);
    items.push(...result.items);
    if (items.length >= result.itemsTotal || result.items.length === 0) return { ...result, items };
  }
};

/** Figures of documents, each read once. */
type Reader = {
  context: InsightContext;
  groupings: readonly AccountGrouping[];
  known: Map<string, Cell>;
  notes: Set<string>;
  isTruncated: boolean;
  stands: Map<string, ByCell<Receivables>>;
  sales: Map<string, ByCell<Sales>>;
};

/** Reads all groups of a summary. Returns its notes. */
const readCells = async (
  reader: Reader,
  args: Arguments,
  take: (id: string, item: DocumentSummaryItem) => void,
): Promise<readonly string[]> => {
  const { context, groupings, known } = reader;
  const [orderBy] = groupings;
  const ordered = orderBy === undefined ? args : { ...args, orderBy };
  const { items, truncated, notes } = await readGroups(context, ordered);
  reader.isTruncated ||= truncated;
  await forEachInTurns(items, (item) => {
    const key = Object.fromEntries(groupings.map((name) => [name, item.key[name] ?? null]));
    const cell = { key, currencyCode: item.currencyCode };
    const id = toCellId(cell);
    known.set(id, cell);
    take(id, item);
  });
  return notes;
};

const readStand = async (reader: Reader, day: string): Promise<ByCell<Receivables>> => {
  const before = reader.stands.get(day);
  if (before !== undefined) return before;
  const found = new Map<string, Receivables>();
  const groupBy = [...reader.groupings, "age"];
  const args = { asOf: day, status: "open", groupBy, ageBuckets: [0] };
  const notes = await readCells(reader, args, (id, item) => {
    const { total, current, disputed, rows } = found.get(id) ?? NO_RECEIVABLES;
    found.set(id, {
      total: total.plus(item.amount),
      current: item.key["age"] === "current" ? current.plus(item.amount) : current,
      disputed: disputed.plus(item.disputedAmount),
      rows: rows + item.count,
    });
  });
  for (const note of notes) reader.notes.add(`${day}: ${note}`);
  reader.stands.set(day, found);
  return found;
};

const readSales = async (reader: Reader, from: string, to: string): Promise<ByCell<Sales>> => {
  const span = `${from} ${to}`;
  const before = reader.sales.get(span);
  if (before !== undefined) return before;
  const found = new Map<string, Sales>();
  const measure = "originalAmount" as const;
  const days = { invoiceFrom: from, invoiceTo: to };
  const args = { ...days, status: "all", measure, groupBy: [...reader.groupings] };
  await readCells(reader, args, (id, { amount, count }) => {
    const { amount: sum, rows } = found.get(id) ?? NO_SALES;
    found.set(id, { amount: sum.plus(amount), rows: rows + count });
  });
  reader.sales.set(span, found);
  return found;
};

type Counting = { left: Big; days: Big; sales: Big };

/** Counts the days of one month for each group; groups whose receivables are used up move to `found`. */
const countMonth = (
  counting: Map<string, Counting>,
  found: Map<string, Countback | string>,
  sales: ByCell<Sales>,
  days: number,
): Promise<void> =>
  forEachInTurns(
    [...counting],
    ([id, { left, ...before }]) => {
      const amount = sales.get(id)?.amount ?? ZERO;
      const sum = before.sales.plus(amount);
      if (left.gt(amount)) {
        const after = { left: left.minus(amount), days: before.days.plus(days), sales: sum };
        counting.set(id, after);
        return;
      }
      counting.delete(id);
      found.set(id, { days: before.days.plus(left.div(amount).times(days)), sales: sum });
    },
    CELLS_PER_TURN,
  );

/** Counts back month by month until the sales of each group reach its receivables. */
const countBack = async (
  reader: Reader,
  { to }: KpiPeriod,
  first: string,
  closing: ByCell<Receivables>,
) => {
  const found = new Map<string, Countback | string>();
  const counting = new Map<string, Counting>();
  for (const [id, { total }] of closing) {
    if (total.gt(0)) counting.set(id, { left: total, days: ZERO, sales: ZERO });
  }
  let [months, earliest] = [0, to];
  for (const month of listMonthsBack(to)) {
    if (counting.size === 0 || months === MOST_MONTHS_BACK || month.from < first) break;
    const sales = await readSales(reader, month.from, month.to);
    await countMonth(counting, found, sales, parseDay(month.to) - parseDay(month.from) + 1);
    months += 1;
    earliest = month.from;
  }
  const why =
    months === MOST_MONTHS_BACK
      ? `The receivables exceed the sales of the last ${months} months, since ${earliest}.`
      : months === 0
        ? `The documents begin on ${first}, after the start of that month.`
        : `The receivables exceed the sales since ${earliest}; the month before is not whole, because the documents begin on ${first}.`;
  for (const id of counting.keys()) found.set(id, why);
  return found;
};

const readPeriod = async (
  reader: Reader,
  period: KpiPeriod,
  first: string | undefined,
): Promise<PeriodDocuments> => {
  const { from, to } = period;
  const none = { opening: undefined, closing: undefined, sales: undefined, countback: new Map() };
  if (first === undefined || first > to) return none;
  const closing = await readStand(reader, to);
  return {
    opening: first < from ? await readStand(reader, dayBefore(from)) : undefined,
    closing,
    sales: first <= from ? await readSales(reader, from, to) : undefined,
    countback: await countBack(reader, period, first, closing),
  };
};

/** Lists the groups that have figures in some period. */
const listCells = async ({ known }: Reader, periods: Iterable<PeriodDocuments>) => {
  const cells = new Map<string, Cell>();
  for (const { opening, closing, sales } of periods) {
    for (const part of [opening, closing, sales]) {
      await forEachInTurns(part?.keys() ?? [], (id) => {
        const cell = known.get(id);
        if (cell !== undefined) cells.set(id, cell);
      });
    }
  }
  return cells;
};

/** Finds the day of the first document, and all currencies. */
const readExtent = async (context: InsightContext) => {
  const { items, currencyTotals } = await callSummary(context, documents.summary, {
    status: "all",
    groupBy: ["invoice:day"],
    orderBy: "invoice:day",
    order: "asc",
    limit: 1,
  });
  const day = items[0]?.key["invoice:day"];
  return {
    first: typeof day === "string" ? day : undefined,
    currencies: currencyTotals.map(({ currencyCode }) => currencyCode),
  };
};

/**
 * Reads receivables and sales of periods in groups, and counts back the days of sales.
 *
 * @throws {Problem} the platform's refusal, or `method_not_allowed` where it does not add up documents of past days
 */
export const readDocumentFacts = async (
  context: InsightContext,
  groupings: readonly AccountGrouping[],
  periods: readonly KpiPeriod[],
): Promise<DocumentFacts> => {
  const needed = { invoiceFrom: "", measure: "", groupBy: [...groupings] };
  if (!canSummarize(context, documents.summary, needed))
    throw new Problem("method_not_allowed", NO_DOCUMENTS);
  const { first, currencies } = await readExtent(context);
  const reader: Reader = {
    context,
    groupings,
    known: new Map(),
    notes: new Set(),
    isTruncated: false,
    stands: new Map(),
    sales: new Map(),
  };
  const read = new Map<KpiPeriod, PeriodDocuments>();
  for (const period of periods) read.set(period, await readPeriod(reader, period, first));
  return {
    first,
    periods: read,
    cells: await listCells(reader, read.values()),
    currencies,
    truncated: reader.isTruncated,
    notes: [...reader.notes],
  };
};
