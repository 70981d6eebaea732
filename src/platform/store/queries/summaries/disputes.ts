import { type RawBuilder, sql } from "kysely";
import type { Unit } from "../../../../contract/insights/calendar.ts";
import {
  type DisputeGrouping,
  type DisputeSummary,
  isInDays,
} from "../../../../contract/insights/dispute-summary.ts";
import { getDialect, type Value } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";
import { FAMILY_KEYS, joinFamilies } from "../families.ts";
import {
  type Asked,
  countElapsedDays,
  joinEnded,
  MOMENT_DIGITS,
  MOMENT_OFFSET,
  toDecision,
  toState,
} from "./dispute-filters.ts";
import {
  chooseOrder,
  dayNumberOf,
  type Expression,
  findBucket,
  formatSpan,
  groupKey,
  keyNames,
  list,
  named,
  orderTerm,
  whole,
} from "./sql.ts";

/** A group of disputes, or all of one currency. Keys are in `k…`; sums of days are whole numbers. */
export type DisputeGroupRow = Record<string, Value> & {
  currency: string;
  count: number;
  amount: string;
  open_count: number;
  open_days: number;
  closed_count: number;
  closing_days: number;
  /** Creation and code of the oldest dispute; see {@link parseOldest}. */
  oldest: string;
  /** The greatest name that the disputes themselves give their account; null unless they are grouped by account. */
  account_name: string | null;
  groups: number;
} & Record<WholeColumn, number>;

/** The figures that a group has over all its currencies too. */
const WHOLE = ["count", "open_count", "open_days", "closed_count", "closing_days"] as const;
type WholeColumn = `whole_${(typeof WHOLE)[number]}`;

/** Adds up the figures of a group over its currencies. */
const selectWhole = (names: readonly string[]): Expression => {
  const keys = names.length === 0 ? sql`1` : list(names.map((name) => sql.ref(name)));
  return list(
    WHOLE.map((name) =>
      named(whole(sql`sum(${sql.ref(name)}) over (partition by ${keys})`), `whole_${name}`),
    ),
  );
};

const OPEN = 0;
const CLOSED = 1;

/** Returns creation and code of the oldest dispute of a group. */
export const parseOldest = (text: string): { createdAt: number; code: string } => ({
  createdAt: Number(text.slice(0, MOMENT_DIGITS)) - MOMENT_OFFSET,
  code: text.slice(MOMENT_DIGITS),
});

const nameIn = (table: string, id: Expression, column = "description"): Expression =>
  sql`(select ${sql.ref(column)} from ${sql.table(table)} as held
    where held.tenant_id = d.tenant_id and held.id = ${id})`;

const REASON = sql`d.reason_id`;
const ASSIGNEE = sql`d.assignee_id`;

const NAMES: Partial<Record<DisputeGrouping, Expression>> = {
  account: sql`d.account_number`,
  ...FAMILY_KEYS,
  document: sql`d.document_number`,
  currency: sql`d.currency_code`,
  reason: nameIn("reasons", REASON),
  category: nameIn("categories", nameIn("reasons", REASON, "category_id")),
  department: nameIn("departments", nameIn("assignees", ASSIGNEE, "department_id")),
  assignee: sql`(select trim(held.first_name || ' ' || held.last_name) from assignees as held
    where held.tenant_id = d.tenant_id and held.id = d.assignee_id)`,
};

type Context = { db: Db; period: Asked; summary: DisputeSummary };

const CREATED = sql`d.created_at`;

/** The days since the creation. */
const toAge = (period: Asked): Expression => countElapsedDays(CREATED, period);

const toDaysToClose = (period: Asked): Expression =>
  sql`(${toState(period).closedDay} - ${dayNumberOf(CREATED, period.offsets)})`;

const toKey = ({ db, period, summary }: Context, grouping: DisputeGrouping): Expression => {
  const known = NAMES[grouping];
  if (known !== undefined) return known;
  const { status, closedAt, closedDay } = toState(period);
  if (grouping === "status") return status;
  if (grouping === "valid") return toDecision(period).isValid;
  if (grouping === "resolution")
    return nameIn("resolutions", toDecision(period).resolution, "code");
  if (grouping === "age") return findBucket(toAge(period), summary.ageBuckets);
  if (grouping === "daysToClose") {
    const bucket = findBucket(toDaysToClose(period), summary.ageBuckets);
    return sql`case when (${closedAt}) is not null then ${bucket} end`;
  }
  const [date, unit] = grouping.split(":");
  const day = date === "created" ? dayNumberOf(CREATED, period.offsets) : closedDay;
  return formatSpan(db, getDialect(db).formatDay(day), unit as Unit);
};

/** The figures of a group over its disputes. */
const listFigures = ({
  db,
  period,
  summary,
}: Context): { columns: Expression[]; amount: Expression } => {
  const { status, closedAt } = toState(period);
  const { sums } = getDialect(db);
  const totals = sums.split(sql`d.amount_order`).map((part) => sql`sum(${part})`);
  const isOpen = sql`${status} = ${sql.lit(OPEN)}`;
  const isClosed = sql`${status} = ${sql.lit(CLOSED)} and ${closedAt} is not null`;
  const days = (when: Expression, value: Expression) =>
    whole(sql`coalesce(sum(case when ${when} then ${value} end), 0)`);
  const oldest = sql`min(cast(d.created_at + ${sql.lit(MOMENT_OFFSET)} as bigint) || d.code)`;
  return {
    amount: sums.order(totals),
    columns: [
      named(sql`count(*)`, "count"),
      named(sums.text(totals), "amount"),
      named(days(isOpen, sql`1`), "open_count"),
      named(days(isOpen, toAge(period)), "open_days"),
      named(days(isClosed, sql`1`), "closed_count"),
      named(days(isClosed, toDaysToClose(period)), "closing_days"),
      named(oldest, "oldest"),
      named(
        summary.groupBy.includes("account") ? sql`max(d.account_name)` : sql`cast(null as text)`,
        "account_name",
      ),
    ],
  };
};

const AVERAGES = {
  avgAgeDays: sql`1.0 * open_days / nullif(open_count, 0)`,
  avgDaysToClose: sql`1.0 * closing_days / nullif(closed_count, 0)`,
};

const FIGURES: Partial<Record<string, Expression>> = {
  count: sql`count`,
  amount: sql`amount_order`,
  ...AVERAGES,
};

const isAscending = (grouping: DisputeGrouping): boolean =>
  isInDays(grouping) || grouping.includes(":");

// Without what orders the groups: it can be larger than a number of the program.
const READ = [
  "currency",
  "count",
  "amount",
  "open_count",
  "open_days",
  "closed_count",
  "closing_days",
  "oldest",
  "account_name",
];

/** Reads the groups of a summary in their order, all or one page of them; without groupings, one per currency. */
export const summarizeDisputes = async (
  context: Context,
  where: RawBuilder<boolean>,
  page?: { limit: number; offset: number },
): Promise<DisputeGroupRow[]> => {
  const { db, summary } = context;
  const names = keyNames(summary.groupBy.length);
  const keys = summary.groupBy.map((name, place) => groupKey(toKey(context, name), `k${place}`));
  const { columns, amount } = listFigures(context);
  const parts = [...keys, groupKey(sql`d.currency_code`, "currency")];
  const read = [...names, ...READ].map((name) => sql.ref(name));
  const ties = [...names, "currency"].map((name) => orderTerm(sql.ref(name), "asc"));
  const { tenantId } = context.period;
  const families = await joinFamilies({ db, tenantId, groupBy: summary.groupBy });
  const { rows } = await sql<DisputeGroupRow>`
    select ${list(read)}, count(*) over () as groups, ${selectWhole(names)} from (
      select ${list([...parts, ...columns, named(amount, "amount_order")])} from disputes as d
      ${joinEnded(db, context.period)} ${families} where ${where} group by ${list(parts.map((_, place) => sql.lit(place + 1)))}) as g
    order by ${list([...chooseOrder(summary, FIGURES, isAscending), ...ties])}
    ${page === undefined ? sql`` : sql`limit ${page.limit} offset ${page.offset}`}`.execute(db);
  return rows;
};
