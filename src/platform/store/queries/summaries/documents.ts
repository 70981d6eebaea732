import { type RawBuilder, sql } from "kysely";
import {
  type Calendar,
  formatDayNumber,
  type Unit,
} from "../../../../contract/insights/calendar.ts";
import type {
  DocumentGrouping,
  DocumentSummary,
} from "../../../../contract/insights/document-summary.ts";
import { isFamilyGrouping } from "../../../../contract/insights/families.ts";
import { getDialect, type Value } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";
import { FAMILY_KEYS, joinFamilies, matchFamilies } from "../families.ts";
import { findSpellings } from "./spellings.ts";
import {
  chooseOrder,
  type Expression,
  formatSpan,
  given,
  groupKey,
  keyNames,
  list,
  named,
  orderTerm,
} from "./sql.ts";

/** A group of documents, or all of one currency; keys are in `k…`. */
export type DocumentGroupRow = Record<string, Value> & {
  currency: string;
  count: number;
  /** Null where no document has a balance. */
  amount: string | null;
  disputed: string | null;
  /** Day and number of the document that fell due first; see {@link parseFirstDue}. */
  first_due: string;
  groups: number;
};

export type Context = {
  db: Db;
  tenantId: string;
  /** Of documents that name none. */
  currency: string;
  /** The moment to whose day days past due count. */
  asOf: number;
  /** The days of the tenant; due dates and invoice dates are days without a time zone. */
  calendar: Calendar;
  summary: DocumentSummary;
};

const DAY_LENGTH = 10;

/** Returns the due date and the number of a group's oldest document. */
export const parseFirstDue = (text: string): { dueDate: string; documentNumber: string } => ({
  dueDate: text.slice(0, DAY_LENGTH),
  documentNumber: text.slice(DAY_LENGTH),
});

/** The last days of the buckets of days past due; the first is of what is not overdue. */
export const listOverdueDays = (lastDays: readonly number[]): number[] => [
  0,
  ...lastDays.filter((last) => last > 0),
];

/** Compares days in text, so that no date is computed for each row. */
const toBucket = ({ asOf, calendar, summary }: Context): Expression => {
  const today = calendar.dayNumber(asOf);
  const days = listOverdueDays(summary.ageBuckets);
  const cases = days.map(
    (last, place) =>
      sql`when d.due_on >= ${sql.lit(formatDayNumber(today - last))} then ${sql.lit(place)}`,
  );
  return sql`case ${sql.join(cases, sql` `)} else ${sql.lit(days.length)} end`;
};

export const toCurrency = ({ currency }: Context): Expression =>
  sql`coalesce(d.balance_currency, ${currency})`;

/** A column of a closed document's last closure. */
const lastClosure = (column: "closure_reason" | "closed_at"): Expression =>
  sql`(select ${sql.ref(`held.${column}`)} from document_closures as held
    where held.tenant_id = d.tenant_id and held.document_number = d.document_number
    order by held.number desc limit 1)`;

const isClosed = sql<boolean>`d.status = 'closed'`;

const toKey = (context: Context, grouping: DocumentGrouping): Expression => {
  if (grouping === "age") return toBucket(context);
  if (grouping === "account") return sql`d.account_number`;
  if (isFamilyGrouping(grouping)) return FAMILY_KEYS[grouping];
  if (grouping === "currency") return toCurrency(context);
  if (grouping === "type") return sql`d.document_type`;
  if (grouping === "status") return sql`d.status`;
  if (grouping === "closureReason")
    return sql`case when ${isClosed} then ${lastClosure("closure_reason")} end`;
  const [date, unit] = grouping.split(":");
  const day = date === "due" ? sql`d.due_on` : sql`d.invoice_on`;
  return formatSpan(context.db, day, unit as Unit);
};

/** Returns the condition of the documents that match a summary's filters. */
export const matchDocuments = async ({
  db,
  tenantId,
  calendar: { toDay, startOf, endOf },
  summary: { filters },
}: Context): Promise<RawBuilder<boolean>> => {
  const { accountNumber, status, type, dueFrom, dueTo, invoiceFrom, invoiceTo } = filters;
  const closedAt = lastClosure("closed_at");
  const target = { table: "documents", column: "account_number", tenantId } as const;
  const accounts =
    accountNumber === undefined ? undefined : await findSpellings(db, target, accountNumber);
  const conditions = [
    sql<boolean>`d.tenant_id = ${tenantId}`,
    ...(await matchFamilies(db, tenantId, filters)),
    ...given(accounts, (numbers) => getDialect(db).isAmongKeys("d.account_number", numbers)),
    ...(status === "all" ? [] : [sql<boolean>`d.status = ${status}`]),
    ...given(type, (word) => sql`d.document_type = ${word}`),
    ...given(dueFrom, (day) => sql`d.due_on >= ${toDay(day)}`),
    ...given(dueTo, (day) => sql`d.due_on <= ${toDay(day)}`),
    ...given(invoiceFrom, (day) => sql`d.invoice_on >= ${toDay(day)}`),
    ...given(invoiceTo, (day) => sql`d.invoice_on <= ${toDay(day)}`),
    ...given(filters.closedFrom, (day) => sql`${isClosed} and ${closedAt} >= ${startOf(day)}`),
    ...given(filters.closedTo, (day) => sql`${isClosed} and ${closedAt} <= ${endOf(day)}`),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
};

/** The amounts that were billed, in the order in which they are preferred. */
const ORIGINAL_AMOUNTS = [
  "original_denomination",
  "original_denomination_in_original_currency",
  "original_denomination_in_base_currency",
];

const toMeasure = ({ db, summary: { measure, filters } }: Context): Expression => {
  if (measure === "originalAmount") {
    const amounts = ORIGINAL_AMOUNTS.map(
      (name) => sql`cast(${getDialect(db).readJsonMember("d.fields", name)} as double precision)`,
    );
    const amount = sql`coalesce(${list(amounts)})`;
    return sql`(case when d.document_type = 'credit_note' then -abs(${amount}) else ${amount} end)`;
  }
  return filters.status === "open"
    ? sql`d.balance`
    : sql`(case when ${isClosed} then 0 else d.balance end)`;
};

const addUp = (context: Context) => {
  const { sums } = getDialect(context.db);
  const disputed = sums.split(sql`amount_order`).map((part, place) => ({
    part: named(sql`sum(${part})`, `p${place}`),
    total: sql`sum(${sql.ref(`p${place}`)})`,
  }));
  const balances = sums.split(toMeasure(context)).map((part) => sql`sum(${part})`);
  return {
    open: disputed.map(({ part }) => part),
    columns: [
      named(sql`count(*)`, "count"),
      named(sums.text(balances), "amount"),
      named(sums.text(disputed.map(({ total }) => total)), "disputed"),
      named(sql`min(d.due_on || d.document_number)`, "first_due"),
      named(sql`coalesce(${sums.order(balances)}, 0)`, "amount_order"),
      named(sql`coalesce(${sums.order(disputed.map(({ total }) => total))}, 0)`, "disputed_order"),
    ],
  };
};

export const FIGURES: Partial<Record<string, Expression>> = {
  count: sql`count`,
  amount: sql`amount_order`,
  disputedAmount: sql`disputed_order`,
};

const isAscending = (grouping: DocumentGrouping): boolean =>
  grouping === "age" || grouping.includes(":");

// Without what orders the groups: it can be larger than a number of the program.
export const READ = ["currency", "count", "amount", "disputed", "first_due"];

/** What groups documents: named keys, the tables that these need, and a condition on these tables. */
type Grouped = { keys: readonly Expression[]; join: Expression; only?: RawBuilder<boolean> };

/** Selects groups of documents by keys and currency, with their figures. */
export const selectDocumentGroups = (
  context: Context,
  where: RawBuilder<boolean>,
  { keys, join, only = sql`1 = 1` }: Grouped,
): Expression => {
  const { accountNumber, parentAccountNumber } = context.summary.filters;
  const { open, columns } = addUp(context);
  const currency = toCurrency(context);
  const parts = [...keys, groupKey(currency, "currency")];
  // Few documents have few disputes; those of all others need no sums.
  const among =
    accountNumber === undefined && parentAccountNumber === undefined
      ? sql``
      : sql`and document_number in (select d.document_number from documents as d where ${where})`;
  return sql`select ${list([...parts, ...columns])} from documents as d
    left join (select document_number, currency_code, ${list(open)} from disputes
      where tenant_id = ${context.tenantId} and status = 0 ${among} group by document_number, currency_code) as x
    on x.document_number = d.document_number and x.currency_code = ${currency} ${join}
    where ${where} and ${only} group by ${list(parts.map((_, place) => sql.lit(place + 1)))}`;
};

/** Reads the groups of a summary in their order, all or one page of them; without groupings, one per currency. */
export const summarizeDocuments = async (
  context: Context,
  where: RawBuilder<boolean>,
  page?: { limit: number; offset: number },
): Promise<DocumentGroupRow[]> => {
  const { db, tenantId, summary } = context;
  const names = keyNames(summary.groupBy.length);
  const keys = summary.groupBy.map((name, place) => groupKey(toKey(context, name), `k${place}`));
  const join = await joinFamilies({ db, tenantId, groupBy: summary.groupBy });
  const read = [...names, ...READ].map((name) => sql.ref(name));
  const ties = [...names, "currency"].map((name) => orderTerm(sql.ref(name), "asc"));
  const { rows } = await sql<DocumentGroupRow>`
    select ${list(read)}, count(*) over () as groups
    from (${selectDocumentGroups(context, where, { keys, join })}) as g
    order by ${list([...chooseOrder(summary, FIGURES, isAscending), ...ties])}
    ${page === undefined ? sql`` : sql`limit ${page.limit} offset ${page.offset}`}`.execute(db);
  return rows;
};
