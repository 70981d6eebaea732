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
import { BASES, findUnrecorded, type PastMoment, selectPastDocuments } from "./past-documents.ts";
import { findSpellings } from "../spellings.ts";
import {
  chooseOrder,
  type Condition,
  type Expression,
  formatSpan,
  given,
  groupKey,
  keyNames,
  list,
  named,
  orderTerm,
  whole,
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
  /** The number of balances by what they rest on, in the order of `BASES`; absent where all rest on records. */
  basis0?: number;
  basis1?: number;
  basis2?: number;
  basis3?: number;
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
  /** Given for a moment of the past: documents and disputes are taken as they stood. */
  past?: PastMoment & { ended: ReadonlyMap<string, unknown> };
};

/**
 * The documents of a summary: a table with their columns, as `d`, and a condition. `isMixed`: the balances rest on more
 * than records.
 */
export type Matched = { documents: Expression; where: Condition; isMixed: boolean };

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

/** A column of a closed document's last closure, of the last one by then for a moment of the past. */
const lastClosure = ({ past }: Context, column: "closure_reason" | "closed_at"): Expression => {
  const isKnown = past === undefined ? sql`` : sql`and held.closed_at <= ${past.at}`;
  return sql`(select ${sql.ref(`held.${column}`)} from document_closures as held
    where held.tenant_id = d.tenant_id and held.document_number = d.document_number ${isKnown}
    order by held.number desc limit 1)`;
};

const isClosed = sql<boolean>`d.status = 'closed'`;

const toKey = (context: Context, grouping: DocumentGrouping): Expression => {
  if (grouping === "age") return toBucket(context);
  if (grouping === "account") return sql`d.account_number`;
  if (isFamilyGrouping(grouping)) return FAMILY_KEYS[grouping];
  if (grouping === "currency") return toCurrency(context);
  if (grouping === "type") return sql`d.document_type`;
  if (grouping === "status") return sql`d.status`;
  if (grouping === "closureReason")
    return sql`case when ${isClosed} then ${lastClosure(context, "closure_reason")} end`;
  const [date, unit] = grouping.split(":");
  const day = date === "due" ? sql`d.due_on` : sql`d.invoice_on`;
  return formatSpan(context.db, day, unit as Unit);
};

/** Returns the condition of the documents that match a summary's filters beside those that regard their status. */
const matchDocuments = async ({
  db,
  tenantId,
  calendar: { toDay },
  summary: { filters },
}: Context): Promise<Condition> => {
  const { accountNumber, type, dueFrom, dueTo, invoiceFrom, invoiceTo } = filters;
  const target = { table: "documents", column: "account_number", tenantId } as const;
  const accounts =
    accountNumber === undefined ? undefined : await findSpellings(db, target, accountNumber);
  const conditions = [
    sql<boolean>`d.tenant_id = ${tenantId}`,
    ...(await matchFamilies(db, tenantId, filters)),
    ...given(accounts, (numbers) => getDialect(db).isAmongKeys("d.account_number", numbers)),
    ...given(type, (word) => sql`d.document_type = ${word}`),
    ...given(dueFrom, (day) => sql`d.due_on >= ${toDay(day)}`),
    ...given(dueTo, (day) => sql`d.due_on <= ${toDay(day)}`),
    ...given(invoiceFrom, (day) => sql`d.invoice_on >= ${toDay(day)}`),
    ...given(invoiceTo, (day) => sql`d.invoice_on <= ${toDay(day)}`),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
};

/** Returns the condition of documents that were closed in a time. */
const matchClosing = (context: Context): Condition => {
  const { closedFrom, closedTo } = context.summary.filters;
  const { startOf, endOf } = context.calendar;
  const closedAt = lastClosure(context, "closed_at");
  const conditions = [
    sql<boolean>`1 = 1`,
    ...given(closedFrom, (day) => sql`${isClosed} and ${closedAt} >= ${startOf(day)}`),
    ...given(closedTo, (day) => sql`${isClosed} and ${closedAt} <= ${endOf(day)}`),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
};

/** Returns the documents to add up: those of now, or those of a moment of the past. */
export const selectDocuments = async (context: Context): Promise<Matched> => {
  const { db, tenantId, currency, summary, past } = context;
  const { status } = summary.filters;
  const matches = await matchDocuments(context);
  const closing = matchClosing(context);
  if (past === undefined) {
    const hasStatus = status === "all" ? sql`1 = 1` : sql`d.status = ${status}`;
    const where = sql<boolean>`${matches} and ${hasStatus} and ${closing}`;
    return { documents: sql`documents`, where, isMixed: false };
  }
  const selection = { db, tenantId, currency, past, matches, status };
  const unrecorded = await findUnrecorded(selection);
  // They have the status already: PostgreSQL would take them for few if it were asked for again.
  const documents = selectPastDocuments(selection, unrecorded);
  return { documents, where: closing, isMixed: !("none" in unrecorded) };
};

const toMeasure = ({ summary: { measure, filters } }: Context): Expression => {
  if (measure === "originalAmount") return sql`d.original_amount`;
  return filters.status === "open"
    ? sql`d.balance`
    : sql`(case when ${isClosed} then 0 else d.balance end)`;
};

/** The exact numbers that the sum of an amount consists of, by the columns that have them. */
const listSums = ({ db }: Context, amount: "amount" | "disputed"): Expression[] =>
  getDialect(db)
    .sums.split(sql.ref(amount))
    .map((_, place) => sql.ref(`${amount}${place}`));

const addUp = (context: Context) => {
  const { sums } = getDialect(context.db);
  const open = sums.split(sql`amount_order`).map((part) => sql`sum(${part})`);
  const balances = sums.split(toMeasure(context)).map((part) => sql`sum(${part})`);
  const disputed = listSums(context, "disputed").map((part) => sql`sum(${part})`);
  return {
    open: open.map((part, place) => named(part, `disputed${place}`)),
    columns: [
      named(sql`count(*)`, "count"),
      ...balances.map((part, place) => named(part, `amount${place}`)),
      ...disputed.map((part, place) => named(part, `disputed${place}`)),
      named(sql`min(d.due_on || d.document_number)`, "first_due"),
      named(sql`coalesce(${sums.order(balances)}, 0)`, "amount_order"),
      named(sql`coalesce(${sums.order(disputed)}, 0)`, "disputed_order"),
    ],
  };
};

/** Reads the figures of groups, without what orders these: it can be larger than a number of the program. */
export const readFigures = (context: Context): Expression[] => {
  const { text } = getDialect(context.db).sums;
  return [
    sql.ref("currency"),
    sql.ref("count"),
    named(text(listSums(context, "amount")), "amount"),
    named(text(listSums(context, "disputed")), "disputed"),
    sql.ref("first_due"),
  ];
};

export const FIGURES: Partial<Record<string, Expression>> = {
  count: sql`count`,
  amount: sql`amount_order`,
  disputedAmount: sql`disputed_order`,
};

const isAscending = (grouping: DocumentGrouping): boolean =>
  grouping === "age" || grouping.includes(":");

const nameBasis = (place: number): string => `basis${place}`;

/** Counts the balances of documents by what they rest on. */
const countBases = ({ isMixed }: Matched): Expression[] =>
  !isMixed
    ? []
    : BASES.map((_, place) =>
        named(
          whole(sql`sum(case when d.basis = ${sql.lit(place)} then 1 else 0 end)`),
          nameBasis(place),
        ),
      );

const isDisputed = ({ db, past }: Context): Condition => {
  if (past === undefined) return sql`status = 0`;
  const ended = [...past.ended.keys()];
  const isEnded = ended.length === 0 ? sql`1 = 0` : getDialect(db).isAmong("id", ended);
  return sql`created_at <= ${past.at} and (status = 0 or closed_at > ${past.at}) and not ${isEnded}`;
};

/** The named keys by which documents are grouped, the tables that these need, and a condition on these tables. */
type Grouped = { keys: readonly Expression[]; join: Expression; only?: RawBuilder<boolean> };

/** Selects groups of documents by keys and currency, with their figures. */
export const selectDocumentGroups = (
  context: Context,
  matched: Matched,
  { keys, join, only = sql`1 = 1` }: Grouped,
): Expression => {
  const { accountNumber, parentAccountNumber } = context.summary.filters;
  const { documents, where } = matched;
  const { open, columns } = addUp(context);
  const currency = toCurrency(context);
  const parts = [...keys, groupKey(currency, "currency")];
  // Few documents have few disputes; those of all others need no sums.
  const among =
    accountNumber === undefined && parentAccountNumber === undefined
      ? sql``
      : sql`and document_number in (select d.document_number from ${documents} as d where ${where})`;
  return sql`select ${list([...parts, ...columns, ...countBases(matched)])} from ${documents} as d
    left join (select document_number, currency_code, ${list(open)} from disputes
      where tenant_id = ${context.tenantId} and ${isDisputed(context)} ${among} group by document_number, currency_code) as x
    on x.document_number = d.document_number and x.currency_code = ${currency} ${join}
    where ${where} and ${only} group by ${list(parts.map((_, place) => sql.lit(place + 1)))}`;
};

/** What all documents of each currency add up to, and groups of them. */
export type DocumentGroups = { totals: DocumentGroupRow[]; groups: DocumentGroupRow[] };

/** Adds up groups per currency, in the form of one, with the place of each currency. */
const selectTotals = (
  context: Context,
  names: readonly string[],
  bases: readonly Expression[],
): Expression => {
  const { sums } = getDialect(context.db);
  const addUpOf = (amount: "amount" | "disputed") =>
    listSums(context, amount).map((part) => sql`sum(${part})`);
  const amount = sql`coalesce(${sums.order(addUpOf("amount"))}, 0)`;
  const columns = [
    ...names.map((name) => named(sql`null`, name)),
    sql.ref("currency"),
    named(whole(sql`sum(count)`), "count"),
    named(sums.text(addUpOf("amount")), "amount"),
    named(sums.text(addUpOf("disputed")), "disputed"),
    named(sql`min(first_due)`, "first_due"),
    ...bases.map((base) => whole(sql`sum(${base})`)),
    named(sql`1`, "is_total"),
    named(sql`count(*)`, "groups"),
    named(sql`row_number() over (order by ${orderTerm(amount, "desc")}, currency)`, "place"),
  ];
  return sql`select ${list(columns)} from g group by currency`;
};

/** Reads the groups of a summary in their order, all or one page of them, and the totals of all groups. */
export const summarizeDocuments = async (
  context: Context,
  matched: Matched,
  page?: { limit: number; offset: number },
): Promise<DocumentGroups> => {
  const { db, tenantId, summary } = context;
  const names = keyNames(summary.groupBy.length);
  const keys = summary.groupBy.map((name, place) => groupKey(toKey(context, name), `k${place}`));
  const join = await joinFamilies({ db, tenantId, groupBy: summary.groupBy });
  const bases = countBases(matched).map((_, place) => sql.ref(nameBasis(place)));
  const ties = [...names, "currency"].map((name) => orderTerm(sql.ref(name), "asc"));
  const order = list([...chooseOrder(summary, FIGURES, isAscending), ...ties]);
  const read = [...names.map((name) => sql.ref(name)), ...readFigures(context), ...bases];
  // Documents are read once, as those of a past day take long to find.
  const { rows } = await sql<DocumentGroupRow & { is_total: number }>`
    with g as materialized (${selectDocumentGroups(context, matched, { keys, join })})
    select ${list(read)}, 0 as is_total, 0 as groups,
      row_number() over (order by ${order}) as place
    from (select * from g order by ${order}
      ${page === undefined ? sql`` : sql`limit ${page.limit} offset ${page.offset}`}) as g
    union all ${selectTotals(context, names, bases)}
    order by is_total, place`.execute(db);
  return {
    totals: rows.filter((row) => row.is_total === 1),
    groups: rows.filter((row) => row.is_total === 0),
  };
};
