import { sql } from "kysely";
import {
  DAYS_PER_AGE_POINT,
  DUE_DAYS,
  STALE_DAYS,
  TRIAGE_FLAGS,
  TRIAGE_POINTS as POINTS,
  type TriageFlag,
  type TriageOrder,
} from "../../../../contract/insights/dispute-triage.ts";
import { getDialect } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";
import {
  type Asked,
  countElapsedDays,
  joinEnded,
  MOMENT_DIGITS,
  MOMENT_OFFSET,
  toState,
} from "./dispute-filters.ts";
import { type Condition, type Expression, list, named } from "./sql.ts";

const OPEN = 0;

/** The conditions and the order of a worklist. */
export type Worklist = {
  db: Db;
  period: Asked;
  /** Disputes that match, as `d`. */
  where: Condition;
  /** Whether disputes that are not open may match. */
  isMixed: boolean;
  /** Days to decide of every dispute, or of those whose reason has none; null: no deadline. */
  days: { always?: number | undefined; usual: number | null };
  /** Whether assignees and deadlines of reasons count. */
  hasConfiguration: boolean;
  /** Marks that a listed dispute has. */
  flags: readonly TriageFlag[];
  orderBy: TriageOrder;
  limit: number;
  offset: number;
};

const COLUMNS = {
  place: "bigint",
  id: "text",
  oldest: "text",
  newest: "text",
  is_open: "bigint",
  is_inactive: "bigint",
  dispute_days: "bigint",
  amount_points: "bigint",
  amount_percent: "bigint",
  currency: "text",
  count: "bigint",
  amount: "text",
  ...(Object.fromEntries(TRIAGE_FLAGS.map((flag) => [flag, "bigint"])) as Record<
    TriageFlag,
    "bigint"
  >),
} as const;
type Column = keyof typeof COLUMNS;

/** Selects some of the columns; the others are null, so that selections can be united. */
const selectColumns = (values: Partial<Record<Column, Expression>>): Expression =>
  list(
    Object.entries(COLUMNS).map(([name, type]) =>
      named(sql`cast(${values[name as Column] ?? sql`null`} as ${sql.raw(type)})`, name),
    ),
  );

const columnsOf = (names: readonly Column[]): Partial<Record<Column, Expression>> =>
  Object.fromEntries(names.map((name) => [name, sql.ref(name)]));

type Numbers<Names extends string> = Record<Names, number>;

/** A dispute of the page: its place, and the creation and id of the oldest and the newest open one of its claim. */
type PlaceRow = {
  id: string;
  oldest: string | null;
  newest: string | null;
  dispute_days: number | null;
} & Numbers<"place" | "is_open" | "is_inactive" | "amount_points" | "amount_percent">;

/** The disputes of one currency. */
type TotalRow = { id: null; currency: string; amount: string } & Numbers<
  "place" | "count" | TriageFlag
>;

const CLAIM = ["document_number", "account_number", "currency_code", "amount_order"];

/** Groups open disputes with the same document and amount; a claim of one dispute is of use to closed ones only. */
const selectClaims = ({ db, period, isMixed }: Worklist): Expression => {
  const claim = list(CLAIM.map((name) => sql.ref(`d.${name}`)));
  const created = sql`cast(d.created_at + ${sql.lit(MOMENT_OFFSET)} as bigint) || d.id`;
  return sql`select ${claim}, count(*) as disputes, min(${created}) as oldest, max(${created}) as newest
    from disputes as d ${joinEnded(db, period)}
    where d.tenant_id = ${period.tenantId} and ${toState(period).status} = ${sql.lit(OPEN)}
      ${period.isPast ? sql`and d.created_at <= ${period.asOf}` : sql``}
    group by ${claim} ${isMixed ? sql`` : sql`having count(*) > 1`}`;
};

/** The newest change of the rows of a table that belong to the dispute `d`. */
const lastChangeIn = (table: "dispute_notes" | "dispute_attachments"): Expression =>
  sql`coalesce((select max(updated_at) from ${sql.table(table)} as o
    where o.tenant_id = d.tenant_id and o.dispute_id = d.id), 0)`;

/** Selects the matching disputes, and the facts that decide about them. */
const selectMatching = (worklist: Worklist): Expression => {
  const { db, period, where, days, hasConfiguration } = worklist;
  const { always, usual } = days;
  const { tenantId } = period;
  const others = CLAIM.map((name) => sql`c.${sql.ref(name)} = d.${sql.ref(name)}`);
  const ownDays =
    always === undefined
      ? sql`coalesce(r.dispute_days, cast(${usual} as bigint))`
      : sql`cast(${always} as bigint)`;
  const isDated = always !== undefined || hasConfiguration;
  return sql`select d.id, d.code, d.created_at, d.amount_order, d.currency_code,
      d.assignee_id, ${hasConfiguration ? sql`case when a.active = 0 then 1 else 0 end` : sql`0`} as is_inactive,
      case when ${toState(period).status} = ${sql.lit(OPEN)} then 1 else 0 end as is_open,
      ${isDated ? ownDays : sql`cast(null as bigint)`} as dispute_days,
      d.updated_at, ${lastChangeIn("dispute_notes")} as noted_at,
      ${lastChangeIn("dispute_attachments")} as filed_at,
      case when i.status = 'closed' then 1 else 0 end as is_closed,
      c.disputes, c.oldest, c.newest
    from disputes as d ${joinEnded(db, period)}
    left join reasons as r on r.tenant_id = ${tenantId} and r.id = d.reason_id
    left join assignees as a on a.tenant_id = ${tenantId} and a.id = d.assignee_id
    left join documents as i on i.tenant_id = ${tenantId} and i.document_number = d.document_number
    left join claims as c on ${sql.join(others, sql` and `)}
    where ${where}`;
};

const flag = (holds: Expression): Expression => sql`case when ${holds} then 1 else 0 end`;

const FLAG_CONDITIONS: Readonly<Record<TriageFlag, Expression>> = {
  documentClosed: sql`is_closed = 1`,
  duplicate: sql`disputes > is_open`,
  unassigned: sql`assignee_id is null or is_inactive = 1`,
  stale: sql`idle >= ${sql.lit(STALE_DAYS)}`,
  due: sql`days_left <= ${sql.lit(DUE_DAYS)}`,
};

const pointsOf = (name: TriageFlag): Expression => sql`${sql.ref(name)} * ${sql.lit(POINTS[name])}`;

const atMost = (value: Expression, most: number): Expression =>
  sql`(case when ${value} > ${sql.lit(most)} then ${sql.lit(most)} else ${value} end)`;

/** Adds to each row of `ranked` its marks, and then its score. */
const selectJudged = (): Expression => {
  const flags = list(TRIAGE_FLAGS.map((name) => named(flag(FLAG_CONDITIONS[name]), name)));
  const age = atMost(sql`age / ${sql.lit(DAYS_PER_AGE_POINT)}`, POINTS.mostAge);
  const score = sql.join([...TRIAGE_FLAGS.map(pointsOf), age, sql`amount_points`], sql` + `);
  return sql`select *, ${atMost(sql`(${score})`, POINTS.most)} as score from (
    select *, ${flags},
      ${sql.lit(POINTS.amount)} * (peers - larger) / peers as amount_points,
      (100 * (larger + 1) + peers - 1) / peers as amount_percent
    from (select *, case when is_open = 1 then dispute_days - age end as days_left from ranked) as dated) as marked`;
};

/** The days since the creation and since the last activity, and the rank of the amount within its currency. */
const selectRanked = ({ period }: Worklist): Expression => {
  const newest = sql`(case when noted_at > updated_at and noted_at >= filed_at then noted_at
    when filed_at > updated_at then filed_at else updated_at end)`;
  return sql`select *, ${countElapsedDays(sql`created_at`, period)} as age,
    ${countElapsedDays(newest, period)} as idle,
    rank() over (partition by currency_code order by amount_order desc) - 1 as larger,
    count(*) over (partition by currency_code) as peers
  from matching`;
};

const ORDERS: Readonly<Record<TriageOrder, readonly string[]>> = {
  priority: ["score desc", "amount_order desc", "created_at"],
  amount: ["amount_order desc", "score desc", "created_at"],
  age: ["created_at", "score desc", "amount_order desc"],
  daysLeft: ["days_left is null", "days_left", "score desc", "amount_order desc", "created_at"],
};

const PLACE_COLUMNS = [
  "id",
  "oldest",
  "newest",
  "is_open",
  "is_inactive",
  "dispute_days",
  "amount_points",
  "amount_percent",
] as const;

/** The sums of each currency, the largest first. */
const selectTotals = ({ db }: Worklist): Expression => {
  const { sums } = getDialect(db);
  const totals = sums.split(sql`amount_order`).map((part) => sql`sum(${part})`);
  const counts = TRIAGE_FLAGS.map((name) => [name, sql`sum(${sql.ref(name)})`]);
  return selectColumns({
    place: sql`row_number() over (order by ${sums.order(totals)} desc, min(created_at), currency_code)`,
    currency: sql.ref("currency_code"),
    count: sql`count(*)`,
    amount: sums.text(totals),
    ...Object.fromEntries(counts),
  });
};

/** Ranks the disputes of a worklist; returns a part of it in its order, and figures over all. */
export const rankDisputes = async (
  worklist: Worklist,
): Promise<{ places: PlaceRow[]; totals: TotalRow[] }> => {
  const { db, flags, orderBy, limit, offset } = worklist;
  const order = sql.raw([...ORDERS[orderBy], "code"].join(", "));
  const hasFlags = flags.map((name) => sql`${sql.ref(name)} = 1`);
  const { rows } = await sql<PlaceRow | TotalRow>`
    with claims as (${selectClaims(worklist)}),
      matching as (${selectMatching(worklist)}),
      ranked as (${selectRanked(worklist)}),
      listed as materialized (select * from (${selectJudged()}) as judged
        ${hasFlags.length === 0 ? sql`` : sql`where ${sql.join(hasFlags, sql` and `)}`})
    select ${selectColumns({ ...columnsOf(PLACE_COLUMNS), place: sql`row_number() over (order by ${order})` })}
      from (select * from listed order by ${order} limit ${limit} offset ${offset}) as page
    union all
    select ${selectTotals(worklist)} from listed group by currency_code`.execute(db);
  const ordered = rows.toSorted((a, b) => a.place - b.place);
  return {
    places: ordered.filter((row) => row.id !== null),
    totals: ordered.filter((row) => row.id === null),
  };
};

/** Returns the id of another open dispute of the claim: the oldest one, or for that the newest one. */
export const findOtherId = ({ id, oldest, newest }: PlaceRow): string | undefined =>
  [oldest, newest]
    .map((text) => text?.slice(MOMENT_DIGITS))
    .find((other) => other !== undefined && other !== id);
