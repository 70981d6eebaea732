import {
  type Calendar,
  findAgeBucket,
  formatSpan,
  listAgeKeys,
  UNITS,
  utcCalendar,
} from "../contract/insights/calendar.ts";
import { isFamilyGrouping } from "../contract/insights/families.ts";
import { DISPUTE_STATUSES } from "../contract/insights/dispute-filters.ts";
import {
  type DisputeFigure,
  type DisputeGroup,
  type DisputeGrouping,
  type DisputeSummary,
  type DisputeSummaryItem,
  isInDays,
} from "../contract/insights/dispute-summary.ts";
import type { CurrencyTotal } from "../contract/insights/result.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import { createSums, formatTenths, formatTotal, type Sums } from "./decimal.ts";
import { type Families, readFamilyKey } from "./families.ts";
import {
  byFigure,
  byLevel,
  byNumber,
  type Compare,
  createKeyIndex,
  inTurn,
  type KeyIndex,
  type KeyValue,
  type Page,
  selectPage,
} from "./groups.ts";
import type { Standing } from "./standing.ts";

type Read = (standing: Standing) => KeyValue;

/** The days of dates, and the parents of accounts if a grouping needs them. */
type Reading = { calendar: Calendar; families?: Families | undefined };

const FIELDS: Partial<Record<DisputeGrouping, Read>> = {
  status: ({ status }) => status,
  account: ({ dispute }) => dispute.accountNumber,
  document: ({ dispute }) => dispute.documentNumber,
  currency: ({ dispute }) => dispute.currencyCode,
  reason: ({ dispute }) => dispute.reasonName,
  category: ({ dispute }) => dispute.categoryName,
  department: ({ dispute }) => dispute.departmentName,
  assignee: ({ dispute }) => dispute.assigneeName,
  resolution: ({ dispute }) => dispute.resolutionCode,
  valid: ({ dispute }) => dispute.isValid,
};

const createDaysRead = (
  lastDays: readonly number[],
  count: (standing: Standing) => number | null,
): Read => {
  const keys = listAgeKeys(lastDays);
  return (standing) => {
    const days = count(standing);
    return days === null ? null : (keys[findAgeBucket(lastDays, days)] ?? null);
  };
};

const createRead = (
  grouping: DisputeGrouping,
  lastDays: readonly number[],
  { calendar, families }: Reading,
): Read => {
  if (isFamilyGrouping(grouping))
    return ({ dispute }) => readFamilyKey(families, grouping, dispute.accountNumber);
  if (grouping === "age") return createDaysRead(lastDays, ({ ageDays }) => ageDays);
  if (grouping === "daysToClose") return createDaysRead(lastDays, ({ daysToClose }) => daysToClose);
  const [date, word] = grouping.split(":");
  const unit = UNITS.find((one) => one === word);
  if (unit === undefined) return FIELDS[grouping] ?? (() => null);
  return ({ createdAt, closedAt }) => {
    const at = date === "created" ? createdAt : closedAt;
    return at === null ? null : formatSpan(calendar.formatDay(at), unit);
  };
};

type Oldest = { createdAt: number; disputeCode: string };

/** Disputes of a group, and days of those that are open or closed. */
type Counts = {
  all: number;
  open: number;
  openDays: number;
  closed: number;
  closedDays: number;
  oldest: Oldest | undefined;
};

const createCounts = (): Counts => ({
  all: 0,
  open: 0,
  openDays: 0,
  closed: 0,
  closedDays: 0,
  oldest: undefined,
});

const chooseOlder = (a: Oldest | undefined, b: Oldest): Oldest => {
  if (a === undefined || b.createdAt < a.createdAt) return b;
  return b.createdAt === a.createdAt && b.disputeCode < a.disputeCode ? b : a;
};

const addToCounts = (counts: Counts, standing: Standing): void => {
  const { dispute, status, createdAt, daysToClose, ageDays } = standing;
  counts.all += 1;
  if (status === "Open") {
    counts.open += 1;
    counts.openDays += ageDays;
  }
  if (status === "Closed" && daysToClose !== null) {
    counts.closed += 1;
    counts.closedDays += daysToClose;
  }
  counts.oldest = chooseOlder(counts.oldest, { createdAt, disputeCode: dispute.disputeCode });
};

/** Disputes in groups of one currency each. */
export type DisputeGroups = {
  index: KeyIndex;
  groupBy: readonly DisputeGrouping[];
  ageBuckets: readonly number[];
  counts: readonly Counts[];
  amounts: Sums;
  /** The names of accounts by number, if disputes are grouped by account. */
  names: ReadonlyMap<string, string>;
  add(standing: Standing): void;
};

/** Collects the greatest of an account's names: disputes on an unknown account may give it several. */
const createNaming =
  (names: Map<string, string>) =>
  ({ dispute: { accountNumber, accountName = null } }: Standing): void => {
    if (accountName === null || accountName <= (names.get(accountNumber) ?? "")) return;
    names.set(accountNumber, accountName);
  };

/** Creates groups by currency and by these groupings; dates are days of the calendar. */
export const createDisputeGroups = (
  { groupBy, ageBuckets }: Pick<DisputeSummary, "groupBy" | "ageBuckets">,
  reading: Reading = { calendar: utcCalendar },
): DisputeGroups => {
  const reads = [
    ({ dispute }: Standing) => dispute.currencyCode,
    ...groupBy.map((grouping) => createRead(grouping, ageBuckets, reading)),
  ];
  const index = createKeyIndex(reads.length);
  const counts: Counts[] = [];
  const amounts = createSums();
  const names = new Map<string, string>();
  const addName = groupBy.includes("account") ? createNaming(names) : () => {};
  const add = (standing: Standing): void => {
    const group = index.find(reads.map((read) => read(standing)));
    const own = (counts[group] ??= createCounts());
    addToCounts(own, standing);
    amounts.add(group, standing.dispute.amount);
    addName(standing);
  };
  return { index, groupBy, ageBuckets, counts, amounts, names, add };
};

/** Adds the age buckets of each currency that no dispute is in, if disputes are grouped by age alone. */
export const addEmptyBuckets = ({ index, groupBy, ageBuckets, counts }: DisputeGroups): void => {
  if (groupBy.length !== 1 || groupBy[0] !== "age") return;
  const currencies = new Set(counts.map((_, group) => index.valueAt(0, group)));
  for (const currency of currencies) {
    for (const key of listAgeKeys(ageBuckets)) index.find([currency, key]);
  }
};

type Ordering = Pick<DisputeSummary, "orderBy" | "order">;

const isInOrder = (grouping: string): boolean => isInDays(grouping) || grouping.includes(":");

/** Compares by the text of a key, but ranges of days by their days and statuses by their numbers. */
const byGrouping = (groups: DisputeGroups, place: number, descending: boolean): Compare => {
  const { index, groupBy, ageBuckets } = groups;
  const level = place + 1;
  const grouping = groupBy[place];
  if (!isInDays(grouping) && grouping !== "status") return byLevel(index, level, descending);
  const keys: readonly string[] = isInDays(grouping) ? listAgeKeys(ageBuckets) : DISPUTE_STATUSES;
  const placeOf = (group: number): number => keys.indexOf(String(index.valueAt(level, group)));
  const isEmpty = (group: number): boolean => index.valueAt(level, group) === null;
  return byFigure({ compare: (a, b) => placeOf(a) - placeOf(b), isEmpty }, descending);
};

const averageOf = (
  counts: readonly Counts[],
  read: (counts: Counts) => [total: number, count: number],
) => {
  const figuresOf = (group: number) => read(counts[group] ?? createCounts());
  return {
    isEmpty: (group: number) => figuresOf(group)[1] === 0,
    compare: (a: number, b: number) => {
      const [[totalA, countA], [totalB, countB]] = [figuresOf(a), figuresOf(b)];
      return totalA * countB - totalB * countA;
    },
  };
};

const createFigureOrder = (
  { counts, amounts }: DisputeGroups,
  figure: DisputeFigure,
  descending: boolean,
): Compare => {
  if (figure === "count") return byNumber((group) => counts[group]?.all ?? 0, descending);
  if (figure === "avgAgeDays") {
    return byFigure(
      averageOf(counts, ({ openDays, open }) => [openDays, open]),
      descending,
    );
  }
  if (figure === "avgDaysToClose") {
    return byFigure(
      averageOf(counts, (of) => [of.closedDays, of.closed]),
      descending,
    );
  }
  return byFigure({ compare: amounts.compare, isEmpty: () => false }, descending);
};

/** The default order: ages and dates ascending, else the amount descending. */
const listCompares = (groups: DisputeGroups, { orderBy, order }: Ordering): Compare[] => {
  const places = groups.groupBy.map((grouping, place) => ({ grouping, place }));
  const chosen = places.find(({ grouping }) => grouping === orderBy);
  if (chosen !== undefined) return [byGrouping(groups, chosen.place, order === "desc")];
  if (orderBy !== undefined) {
    return [createFigureOrder(groups, orderBy as DisputeFigure, order !== "asc")];
  }
  const inOrder = places.filter(({ grouping }) => isInOrder(grouping));
  const isDescending = inOrder.length > 0 || order !== "asc";
  return [
    ...inOrder.map(({ place }) => byGrouping(groups, place, order === "desc")),
    createFigureOrder(groups, "amount", isDescending),
  ];
};

/** Returns the figures that an item and the whole result have. */
export const toFigures = ({ open, openDays, closed, closedDays, oldest }: Counts) => ({
  oldest:
    oldest === undefined
      ? null
      : { disputeCode: oldest.disputeCode, createDate: formatTimestamp(oldest.createdAt) },
  avgAgeDays: formatTenths(openDays, open),
  avgDaysToClose: formatTenths(closedDays, closed),
});

/** Adds up the counts of all groups. */
export const sumCounts = (counts: readonly Counts[]): Counts => {
  const total = createCounts();
  for (const one of counts) {
    total.all += one.all;
    total.open += one.open;
    total.openDays += one.openDays;
    total.closed += one.closed;
    total.closedDays += one.closedDays;
    if (one.oldest !== undefined) total.oldest = chooseOlder(total.oldest, one.oldest);
  }
  return total;
};

const toItem = (groups: DisputeGroups, group: number): DisputeSummaryItem => {
  const { index, groupBy, counts, amounts, names } = groups;
  const own = counts[group] ?? createCounts();
  const key = groupBy.map((name, place) => [name, index.valueAt(place + 1, group)] as const);
  const account = groupBy.indexOf("account");
  const accountName = account === -1 ? undefined : names.get(String(key[account]?.[1]));
  return {
    key: Object.fromEntries(key),
    ...(accountName === undefined ? {} : { accountName }),
    currencyCode: String(index.valueAt(0, group)),
    count: own.all,
    amount: formatTotal(amounts.total(group)),
    ...toFigures(own),
  };
};

/** Returns a page of the groups as items. */
export const listItems = async (
  groups: DisputeGroups,
  { limit, offset = 0, ...ordering }: Ordering & Page,
): Promise<DisputeSummaryItem[]> => {
  const { index, groupBy } = groups;
  const ties = groupBy.map((_, place) => byGrouping(groups, place, false));
  const compares = [...listCompares(groups, ordering), ...ties];
  const compare = inTurn(index, groupBy.length + 1, compares);
  const chosen = await selectPage(index.size, { limit, offset }, compare);
  return mapInTurns(chosen, (group) => toItem(groups, group));
};

/** Returns the groups of items over all currencies, in the order of the items. */
export const listWholeGroups = async (
  { index, groupBy, counts }: DisputeGroups,
  items: readonly DisputeSummaryItem[],
): Promise<DisputeGroup[]> => {
  const keyOf = (valueOf: (name: string, place: number) => unknown): string =>
    JSON.stringify(groupBy.map(valueOf));
  const wholes = new Map(
    items.map(({ key }) => [keyOf((name) => key[name]), { key, parts: [] as Counts[] }]),
  );
  await forEachInTurns(counts.entries(), ([group, own]) => {
    wholes.get(keyOf((_name, place) => index.valueAt(place + 1, group)))?.parts.push(own);
  });
  return [...wholes.values()].map(({ key, parts }) => {
    const whole = sumCounts(parts);
    const { avgAgeDays, avgDaysToClose } = toFigures(whole);
    return { key, count: whole.all, avgAgeDays, avgDaysToClose };
  });
};

/** Returns the totals of groups that are currencies alone. */
export const listCurrencyTotals = async (totals: DisputeGroups): Promise<CurrencyTotal[]> => {
  const all = { limit: totals.index.size, orderBy: undefined, order: undefined };
  const items = await listItems(totals, all);
  return items.map(({ currencyCode, count, amount }) => ({ currencyCode, count, amount }));
};
