import { type RawBuilder, sql } from "kysely";
import type { Calendar } from "../../../../contract/insights/calendar.ts";
import {
  type DisputeFilters,
  DISPUTE_STATUSES,
} from "../../../../contract/insights/dispute-filters.ts";
import type { FamilyFilters } from "../../../../contract/insights/families.ts";
import type { Reopened } from "../../../../contract/insights/reopened.ts";
import { getDialect } from "../../engine/dialect.ts";
import { matchFamilies } from "../families.ts";
import { contains, findNamed, hasAccountName } from "../disputes-by-name.ts";
import { fold } from "../../engine/fold.ts";
import type { Db } from "../../port.ts";
import { findSpellings } from "../spellings.ts";
import { type Condition, dayNumberOf, type Expression, given, type Offsets } from "./sql.ts";
import { ofTenant } from "../../engine/rows.ts";

/** The moment to which disputes are counted: the end of a day, or now. */
export type Asked = {
  tenantId: string;
  asOf: number;
  isPast: boolean;
  /** The disputes that had ended by then and have been reopened since. */
  ended: Reopened["ended"];
  /** The days of the tenant. */
  calendar: Calendar;
  /** Of the tenant's clocks since the oldest dispute. */
  offsets: Offsets;
};

// A fixed number of digits, so that the text with the smallest number is the smallest text.
export const MOMENT_OFFSET = 1e14;
export const MOMENT_DIGITS = 15;

/** Joins the former ends of reopened disputes as `e`, so that each is looked up by its id. */
export const joinEnded = (db: Db, { ended }: Asked): RawBuilder<unknown> => {
  if (ended.size === 0) return sql``;
  const lines = [...ended].map(
    ([id, { closedAt, status }]) => `${closedAt + MOMENT_OFFSET}${status}${id}`,
  );
  return sql`left join (
    select substr(value, ${sql.lit(MOMENT_DIGITS + 2)}) as id,
      cast(substr(value, ${sql.lit(MOMENT_DIGITS + 1)}, 1) as integer) as status,
      cast(substr(value, 1, ${sql.lit(MOMENT_DIGITS)}) as bigint) - ${sql.lit(MOMENT_OFFSET)} as closed_at
    from (${getDialect(db).unnest(lines)}) as listed) as e on e.id = d.id`;
};

/** The days that have passed since a timestamp; 0 for a later one, by a clock that is ahead. */
export const countElapsedDays = (
  timestamp: Expression,
  { asOf, calendar, offsets }: Pick<Asked, "asOf" | "calendar" | "offsets">,
): Expression => {
  const today = calendar.dayNumber(asOf);
  return sql`(case when ${timestamp} >= ${sql.lit(calendar.startOfNumber(today + 1))} then 0
    else ${sql.lit(today)} - ${dayNumberOf(timestamp, offsets)} end)`;
};

/** The closing, its day and the status of a dispute as it stood; `joinEnded` is in the same statement. */
export const toState = ({ asOf, isPast, ended, offsets }: Asked) => {
  const closing = sql`d.closed_at`;
  const closingDay = dayNumberOf(closing, offsets);
  if (!isPast) return { closedAt: closing, closedDay: closingDay, status: sql<number>`d.status` };
  const formerly = (value: Expression) =>
    ended.size === 0 ? sql`` : sql`when e.id is not null then ${value}`;
  const formerDay = dayNumberOf(sql`e.closed_at`, offsets);
  return {
    closedAt: sql`case ${formerly(sql`e.closed_at`)} when d.closed_at <= ${asOf} then ${closing} end`,
    closedDay: sql<number>`(case ${formerly(formerDay)} when d.closed_at <= ${asOf} then ${closingDay} end)`,
    status: sql<number>`case ${formerly(sql`e.status`)} when d.closed_at > ${asOf} then 0 else d.status end`,
  };
};

/** The resolution and validity of a dispute as it stood: one that was open had neither. */
export const toDecision = (period: Asked) => {
  if (!period.isPast) return { resolution: sql`d.resolution_id`, isValid: sql`d.is_valid` };
  const { status } = toState(period);
  const ended = (column: "resolution_id" | "is_valid") =>
    sql`case when (${status}) <> 0 then ${sql.ref(`d.${column}`)}`;
  return {
    resolution: sql`${ended("resolution_id")} end`,
    isValid: sql`${ended("is_valid")} else 0 end`,
  };
};

/** Disputes whose record of a table has a code, or a name with a part. */
const namesRecord = (
  tenantId: string,
  column: string,
  table: "reasons" | "departments" | "assignees",
  holds: Condition,
): Condition =>
  sql`${sql.ref(column)} in (select id from ${sql.table(table)} where tenant_id = ${tenantId} and ${holds})`;

const hasCodeOrPart = (text: string): Condition =>
  sql`(code_folded = ${fold(text)} or ${contains("description_folded", text)})`;

const inRecords = (tenantId: string, table: "categories" | "departments", text: string) =>
  sql<boolean>`${sql.ref(table === "categories" ? "category_id" : "department_id")} in (
    select id from ${sql.table(table)} where tenant_id = ${tenantId} and ${hasCodeOrPart(text)})`;

const recordConditions = (filters: DisputeFilters, tenantId: string): Condition[] => [
  ...given(filters.reason, (text) =>
    namesRecord(tenantId, "d.reason_id", "reasons", hasCodeOrPart(text)),
  ),
  ...given(filters.category, (text) =>
    namesRecord(tenantId, "d.reason_id", "reasons", inRecords(tenantId, "categories", text)),
  ),
  ...given(filters.department, (text) =>
    namesRecord(tenantId, "d.assignee_id", "assignees", inRecords(tenantId, "departments", text)),
  ),
  ...given(filters.assignee, (text) =>
    namesRecord(
      tenantId,
      "d.assignee_id",
      "assignees",
      sql`(email_folded = ${fold(text)} or ${contains("name_folded", text)})`,
    ),
  ),
];

/** The resolutions have no folded description; a tenant has few of them. */
const resolutionConditions = async (
  db: Db,
  period: Asked,
  text: string | undefined,
): Promise<Condition[]> => {
  if (text === undefined) return [];
  const all = await ofTenant(db, "resolutions", period.tenantId)
    .select(["id", "code_folded", "description"])
    .execute();
  const folded = fold(text);
  const ids = all
    .filter(
      ({ code_folded, description }) =>
        code_folded === folded || fold(description).includes(folded),
    )
    .map(({ id }) => id);
  const { status } = toState(period);
  return [
    getDialect(db).isAmong("d.resolution_id", ids),
    ...(period.isPast ? [sql<boolean>`(${status}) <> 0`] : []),
  ];
};

const DOCUMENT_STATUS = sql`(select status from documents as held
  where held.tenant_id = d.tenant_id and held.document_number = d.document_number)`;

const documentCondition = (status: NonNullable<DisputeFilters["documentStatus"]>): Condition =>
  status === "missing" ? sql`${DOCUMENT_STATUS} is null` : sql`${DOCUMENT_STATUS} = ${status}`;

const timeConditions = (filters: DisputeFilters, period: Asked): Condition[] => {
  const { closedAt } = toState(period);
  const { startOf, endOf, dayNumber, startOfNumber } = period.calendar;
  const today = dayNumber(period.asOf);
  return [
    ...(period.isPast ? [sql<boolean>`d.created_at <= ${period.asOf}`] : []),
    ...given(filters.createdFrom, (day) => sql`d.created_at >= ${startOf(day)}`),
    ...given(filters.createdTo, (day) => sql`d.created_at <= ${endOf(day)}`),
    ...given(filters.closedFrom, (day) => sql`${closedAt} >= ${startOf(day)}`),
    ...given(filters.closedTo, (day) => sql`${closedAt} <= ${endOf(day)}`),
    ...given(filters.updatedBefore, (day) => sql`d.updated_at <= ${endOf(day)}`),
    ...given(filters.olderThanDays, (days) => sql`d.created_at < ${startOfNumber(today - days)}`),
  ];
};

const valueConditions = (db: Db, filters: DisputeFilters, period: Asked): Condition[] => [
  ...given(filters.status, (words) => {
    const numbers = words.map((word) => sql.lit(DISPUTE_STATUSES.indexOf(word)));
    return sql`${toState(period).status} in (${sql.join(numbers)})`;
  }),
  ...given(filters.currencyCode, (codes) => getDialect(db).isAmong("d.currency_code", codes)),
  ...given(filters.unassigned, (unassigned) =>
    unassigned ? sql`d.assignee_id is null` : sql`d.assignee_id is not null`,
  ),
  ...given(filters.amountMin, (amount) => sql`d.amount_order >= ${amount}`),
  ...given(filters.amountMax, (amount) => sql`d.amount_order <= ${amount}`),
  ...given(filters.documentStatus, documentCondition),
];

const NUMBERS = {
  accountNumber: "account_number",
  documentNumber: "document_number",
  disputeCode: "code",
} as const;

const numberConditions = async (
  db: Db,
  filters: DisputeFilters,
  tenantId: string,
): Promise<Condition[]> => {
  const conditions: Condition[] = [];
  for (const [name, column] of Object.entries(NUMBERS)) {
    const values = filters[name as keyof typeof NUMBERS];
    if (values === undefined) continue;
    const target = { table: "disputes", column, tenantId } as const;
    const spellings = await findSpellings(db, target, values);
    conditions.push(getDialect(db).isAmongKeys(`d.${column}`, spellings));
  }
  return conditions;
};

/** Returns the condition of the disputes that match filters. */
export const matchDisputes = async (
  db: Db,
  filters: DisputeFilters & FamilyFilters,
  period: Asked,
): Promise<Condition> => {
  const { tenantId } = period;
  const conditions = [
    sql<boolean>`d.tenant_id = ${tenantId}`,
    ...(await matchFamilies(db, tenantId, filters)),
    ...(await numberConditions(db, filters, tenantId)),
    ...given(await findNamed(db, tenantId, filters.accountName), hasAccountName),
    ...(await resolutionConditions(db, period, filters.resolution)),
    ...recordConditions(filters, tenantId),
    ...timeConditions(filters, period),
    ...valueConditions(db, filters, period),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
};
