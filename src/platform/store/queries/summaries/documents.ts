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
import { getDialect, type Value } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";
import { BASES, findUnrecorded, type PastMoment, selectPastDocuments } from "./past-documents.ts";
import { findSpellings } from "./spellings.ts";
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
  /** Of a moment of the past: the number of balances by what they rest on, in the order of `BASES`. */
  basis0?: number;
  basis1?: number;
  basis2?: number;
  basis3?: number;
};

type Context = {
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

type Matched = {
  withTables: Expression;
  documents: Expression;
  where: RawBuilder<boolean>;
};

/** Returns the documents to add up: those of now, or those of a moment of the past. */
export const selectDocuments = async (context: Context): Promise<Matched> => {
  const { db, tenantId, currency, summary, past } = context;
  const { status } = summary.filters;
  const matches = await matchDocuments(context);
  if (past === undefined) {
    const where = status === "all" ? matches : sql<boolean>`${matches} and d.status = ${status}`;
    return { withTables: sql``, documents: sql`documents`, where };
  }
  const selection = { db, tenantId, currency, past, matches, status };
  const unrecorded = await findUnrecorded(selection);
  return { ...selectPastDocuments(selection, unrecorded), where: sql`1 = 1` };
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

const toCurrency = ({ currency }: Context): Expression =>
  sql`coalesce(d.balance_currency, ${currency})`;

const toKey = (context: Context, grouping: DocumentGrouping): Expression => {
  if (grouping === "age") return toBucket(context);
  if (grouping === "account") return sql`d.account_number`;
  if (grouping === "currency") return toCurrency(context);
  if (grouping === "type") return sql`d.document_type`;
  if (grouping === "status") return sql`d.status`;
  const [date, unit] = grouping.split(":");
  const day = date === "due" ? sql`d.due_on` : sql`d.invoice_on`;
  return formatSpan(context.db, day, unit as Unit);
};

/** Returns the condition of the documents that match a summary's filters beside their status. */
const matchDocuments = async ({
  db,
  tenantId,
  calendar: { toDay },
  summary: { filters },
}: Context): Promise<RawBuilder<boolean>> => {
  const { accountNumber, type, dueFrom, dueTo } = filters;
  const target = { table: "documents", column: "account_number", tenantId } as const;
  const accounts =
    accountNumber === undefined ? undefined : await findSpellings(db, target, accountNumber);
  const conditions = [
    sql<boolean>`d.tenant_id = ${tenantId}`,
    ...given(accounts, (numbers) => getDialect(db).isAmongKeys("d.account_number", numbers)),
    ...given(type, (word) => sql`d.document_type = ${word}`),
    ...given(dueFrom, (day) => sql`d.due_on >= ${toDay(day)}`),
    ...given(dueTo, (day) => sql`d.due_on <= ${toDay(day)}`),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
};

const addUp = (context: Context) => {
  const { sums } = getDialect(context.db);
  const disputed = sums.split(sql`amount_order`).map((part, place) => ({
    part: named(sql`sum(${part})`, `p${place}`),
    total: sql`sum(${sql.ref(`p${place}`)})`,
  }));
  const balances = sums.split(sql`d.balance`).map((part) => sql`sum(${part})`);
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

const FIGURES: Partial<Record<string, Expression>> = {
  count: sql`count`,
  amount: sql`amount_order`,
  disputedAmount: sql`disputed_order`,
};

const isAscending = (grouping: DocumentGrouping): boolean =>
  grouping === "age" || grouping.includes(":");

// Without what orders the groups: it can be larger than a number of the program.
const READ = ["currency", "count", "amount", "disputed", "first_due"];

const nameBasis = (place: number): string => `basis${place}`;

const countBases = ({ past }: Context): Expression[] =>
  past === undefined
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
  const isReopened = ended.length === 0 ? sql`1 = 0` : getDialect(db).isAmong("id", ended);
  return sql`created_at <= ${past.at} and (status = 0 or closed_at > ${past.at}) and not ${isReopened}`;
};

/** Reads the groups of a summary in their order, all or one page of them; without groupings, one per currency. */
export const summarizeDocuments = async (
  context: Context,
  { withTables, documents, where }: Matched,
  page?: { limit: number; offset: number },
): Promise<DocumentGroupRow[]> => {
  const { db, tenantId, summary } = context;
  const names = keyNames(summary.groupBy.length);
  const keys = summary.groupBy.map((name, place) => groupKey(toKey(context, name), `k${place}`));
  const { open, columns } = addUp(context);
  const currency = toCurrency(context);
  const parts = [...keys, groupKey(currency, "currency")];
  const bases = countBases(context);
  const read = [...names, ...READ, ...bases.map((_, place) => nameBasis(place))].map((name) =>
    sql.ref(name),
  );
  // Few documents have few disputes; those of all others need no sums.
  const among =
    summary.filters.accountNumber === undefined
      ? sql``
      : sql`and document_number in (select d.document_number from ${documents} as d where ${where})`;
  const ties = [...names, "currency"].map((name) => orderTerm(sql.ref(name), "asc"));
  const { rows } = await sql<DocumentGroupRow>`
    ${withTables} select ${list(read)}, count(*) over () as groups from (
      select ${list([...parts, ...columns, ...bases])} from ${documents} as d
      left join (select document_number, currency_code, ${list(open)} from disputes
        where tenant_id = ${tenantId} and ${isDisputed(context)} ${among} group by document_number, currency_code) as x
      on x.document_number = d.document_number and x.currency_code = ${currency}
      where ${where} group by ${list(parts.map((_, place) => sql.lit(place + 1)))}) as g
    order by ${list([...chooseOrder(summary, FIGURES, isAscending), ...ties])}
    ${page === undefined ? sql`` : sql`limit ${page.limit} offset ${page.offset}`}`.execute(db);
  return rows;
};
