import Big from "big.js";
import type { Contract } from "../../../contract/index.ts";
import { listAgeKeys, openCalendar } from "../../../contract/insights/calendar.ts";
import { DISPUTE_STATUSES } from "../../../contract/insights/dispute-filters.ts";
import {
  describePresent,
  type DisputeGroup,
  type DisputeGrouping,
  type DisputeSummary,
  type DisputeSummaryItem,
  type DisputeSummaryResult,
  hasDividedGroups,
  orderGroups,
  isInDays,
  parseDisputeSummary,
} from "../../../contract/insights/dispute-summary.ts";
import { type GroupKey, toExactNumber } from "../../../contract/insights/result.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import type { Handlers } from "../../handlers.ts";
import { getDialect, type Value } from "../../store/engine/dialect.ts";
import type { Db } from "../../store/port.ts";
import { type Asked, matchDisputes } from "../../store/queries/summaries/dispute-filters.ts";
import { readOffsets } from "../../store/queries/summaries/offsets.ts";
import { readReopened } from "../../store/queries/summaries/reopened.ts";
import {
  type DisputeGroupRow,
  parseOldest,
  summarizeDisputes,
} from "../../store/queries/summaries/disputes.ts";
import { readTenant } from "../../store/queries/tenants.ts";
import { completeBuckets, readAccountNames, toAccountName } from "../summary-items.ts";

/** Divides to one decimal. */
const average = (sum: number, count: number): number | null =>
  count === 0 ? null : new Big(sum).div(count).round(1, Big.roundHalfUp).toNumber();

const toKeyValue = (
  { ageBuckets }: DisputeSummary,
  grouping: DisputeGrouping,
  value: Value,
): GroupKey[string] => {
  if (grouping === "status") return DISPUTE_STATUSES[Number(value)] ?? null;
  if (isInDays(grouping)) {
    return value === null ? null : (listAgeKeys(ageBuckets)[Number(value)] ?? null);
  }
  return grouping === "valid" ? value === 1 : value;
};

const toKey = (summary: DisputeSummary, row: DisputeGroupRow): GroupKey =>
  Object.fromEntries(
    summary.groupBy.map((name, place) => [
      name,
      toKeyValue(summary, name, row[`k${place}`] ?? null),
    ]),
  );

type Rows = readonly DisputeGroupRow[];

const addUp = (
  rows: Rows,
  name: "count" | "open_count" | "open_days" | "closed_count" | "closing_days",
) => rows.reduce((sum, row) => sum + row[name], 0);

/** The figures of rows together, amounts aside. */
const toFigures = (rows: Rows) => {
  const [oldest] = rows.map((row) => row.oldest).toSorted();
  const { createdAt, code } = parseOldest(oldest ?? "");
  return {
    oldest:
      oldest === undefined ? null : { disputeCode: code, createDate: formatTimestamp(createdAt) },
    avgAgeDays: average(addUp(rows, "open_days"), addUp(rows, "open_count")),
    avgDaysToClose: average(addUp(rows, "closing_days"), addUp(rows, "closed_count")),
  };
};

/** The groups of items over all currencies, in the order of the items. */
const toGroups = (rows: Rows, summary: DisputeSummary): DisputeGroup[] => {
  const groups = new Map<string, DisputeGroup>();
  for (const row of rows) {
    const key = toKey(summary, row);
    groups.set(JSON.stringify(key), {
      key,
      count: row.whole_count,
      avgAgeDays: average(row.whole_open_days, row.whole_open_count),
      avgDaysToClose: average(row.whole_closing_days, row.whole_closed_count),
    });
  }
  return [...groups.values()];
};

/** Returns the groups of the items, empty ones included. */
const completeGroups = (groups: readonly DisputeGroup[], items: readonly DisputeSummaryItem[]) => {
  const known = new Map(groups.map((group) => [JSON.stringify(group.key), group]));
  const keys = new Map(items.map(({ key }) => [JSON.stringify(key), key]));
  return [...keys].map(
    ([text, key]) => known.get(text) ?? { key, count: 0, avgAgeDays: null, avgDaysToClose: null },
  );
};

const NO_FIGURES = { count: 0, amount: 0, ...toFigures([]) };

const read = async (
  db: Db,
  evaluation: Omit<Asked, "ended" | "offsets">,
  summary: DisputeSummary,
): Promise<DisputeSummaryResult> => {
  const { filters, groupBy, ageBuckets, limit, offset } = summary;
  const { ended, notes } = evaluation.isPast
    ? await readReopened(db, evaluation.tenantId, evaluation.asOf)
    : { ended: new Map<string, never>(), notes: [] };
  const period = { ...evaluation, ended, offsets: await readOffsets(db, evaluation) };
  const where = await matchDisputes(db, filters, period);
  const { parse } = getDialect(db).sums;
  const toAmount = ({ amount }: DisputeGroupRow) => toExactNumber(new Big(parse(amount)).toFixed());
  const whole = { ...summary, groupBy: [], orderBy: undefined, order: undefined };
  const totals = await summarizeDisputes({ db, period, summary: whole }, where);
  const inAges = groupBy.length === 1 && groupBy[0] === "age";
  const rows = await summarizeDisputes(
    { db, period, summary },
    where,
    inAges ? undefined : summary,
  );
  const names = await readAccountNames(db, evaluation.tenantId, groupBy, rows);
  const found = rows.map((row): DisputeSummaryItem => ({
    key: toKey(summary, row),
    ...toAccountName(names.get(row[`k${groupBy.indexOf("account")}`]) ?? row.account_name),
    currencyCode: row.currency,
    count: row.count,
    amount: toAmount(row),
    ...toFigures([row]),
  }));
  const all = inAges
    ? completeBuckets(found, "age", listAgeKeys(ageBuckets), summary, NO_FIGURES)
    : found;
  const items = inAges ? all.slice(offset, offset + limit) : all;
  return {
    asOf: filters.asOf ?? formatTimestamp(period.asOf),
    filter: { ...filters, timeZone: evaluation.calendar.zone.name },
    rowCount: addUp(totals, "count"),
    truncated: false,
    currencyTotals: totals.map((row) => ({
      currencyCode: row.currency,
      count: row.count,
      amount: toAmount(row),
    })),
    itemsTotal: inAges ? all.length : (rows[0]?.groups ?? 0),
    notes: [...notes, ...describePresent(summary)],
    ...toFigures(totals),
    ...(hasDividedGroups(summary, totals.length)
      ? { groups: orderGroups(completeGroups(toGroups(rows, summary), items), summary) }
      : {}),
    items,
  };
};

/** Counts and adds up disputes, in groups. */
export const summarize: Handlers<Contract["disputes"]>["summary"] = async ({ body }, call) => {
  const { value: summary, faults } = parseDisputeSummary(body);
  if (summary === undefined) return call.invalid(faults);
  const { tenantId, now } = call;
  const { settings } = await readTenant(call.db, tenantId);
  const calendar = openCalendar(settings.timeZone);
  const day = summary.filters.asOf;
  const period = {
    tenantId,
    asOf: day === undefined ? now : calendar.endOf(day),
    isPast: day !== undefined,
    calendar,
  };
  await using snapshot = await call.snapshot({ aggregates: true });
  return { body: await read(snapshot.db, period, summary) };
};
