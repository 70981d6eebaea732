import { sql } from "kysely";
import { getDialect } from "../../engine/dialect.ts";
import { fold } from "../../engine/fold.ts";
import type { Db } from "../../port.ts";
import { type Condition, type Expression, list, named } from "./sql.ts";

/** A moment of the past, with the day on which it is for the tenant. */
export type PastMoment = { at: number; day: string };

/** The facts on which the balance of a document at a moment rests. */
export const BASES = ["records", "payments", "original", "first"] as const;

const [RECORDS, PAYMENTS, ORIGINAL, FIRST] = [0, 1, 2, 3];

type Selection = {
  db: Db;
  tenantId: string;
  /** Of documents that name none. */
  currency: string;
  past: PastMoment;
  /** The conditions of documents `d` beside their status. */
  matches: Condition;
  status: "open" | "closed" | "all";
};

/** The numbers of documents of whose balance nothing was recorded by then. */
export type Unrecorded = { none: true } | { numbers: readonly string[] } | { many: true };

const FEW = 1000;

/** Shared by all parts: a document counts from the day of its issue. */
const isIssued = ({ matches, past }: Selection): Condition =>
  sql`${matches} and d.invoice_on <= ${past.day}`;

/**
 * A document of a store that an earlier version filled: its history is empty, and its present balance holds since its
 * last change. When a closed one was closed is known from its closures alone.
 */
const holdsSince = ({ at }: PastMoment): Condition =>
  sql`(d.balance_recorded_at is null and d.status = 'open' and d.updated_at <= ${at})`;

/** Nothing was recorded by then: not at all, or later only. */
const UNRECORDED = [
  (past: PastMoment) => sql<boolean>`d.balance_recorded_at is null and not ${holdsSince(past)}`,
  // No balance is recorded before it is known. The plus sign makes SQLite use the index of `balance_known_from`.
  ({ at }: PastMoment) =>
    sql<boolean>`+d.balance_recorded_at > ${at} and d.balance_known_from > ${at}`,
];

/** Finds out whether payments must be read, and of which documents. */
export const findUnrecorded = async (selection: Selection): Promise<Unrecorded> => {
  const numbers: string[] = [];
  for (const isUnrecorded of UNRECORDED) {
    const { rows } = await sql<{ document_number: string }>`
      select d.document_number from documents as d
      where ${isIssued(selection)} and ${isUnrecorded(selection.past)} limit ${FEW + 1}`.execute(
      selection.db,
    );
    numbers.push(...rows.map((row) => row.document_number));
    if (numbers.length > FEW) return { many: true };
  }
  return numbers.length === 0 ? { none: true } : { numbers };
};

const hasStatus = ({ status }: Selection, column: Expression): Condition =>
  status === "all" ? sql`1 = 1` : sql`${column} = ${status}`;

const OWN = sql`d.tenant_id, d.document_number, d.account_number, d.document_type, d.due_on, d.invoice_on,
  d.original_amount`;

type State = { balance: Expression; currency: Expression; status: Expression; basis: Expression };

const select = ({ balance, currency, status, basis }: State): Expression =>
  list([
    OWN,
    named(balance, "balance"),
    named(currency, "balance_currency"),
    named(status, "status"),
    named(basis, "basis"),
  ]);

/**
 * Documents whose present balance, or the one before it, is that of then. The conditions are simple ones, so that both
 * databases find the rows by indexes, and PostgreSQL estimates their number.
 */
const selectByRow = (selection: Selection): Expression[] => {
  const { db, past } = selection;
  const present = {
    balance: sql`case when d.status = 'closed' then 0 else d.balance end`,
    currency: sql`d.balance_currency`,
    status: sql`d.status`,
    basis: sql.lit(RECORDS),
  };
  const former = {
    balance: sql`d.former_balance`,
    currency: sql`d.former_currency`,
    status: sql`d.former_status`,
    basis: sql.lit(RECORDS),
  };
  const isFormer = sql<boolean>`d.balance_recorded_at > ${past.at} and d.former_at <= ${past.at}`;
  const parts: [State, Condition][] = [
    [present, sql<boolean>`d.balance_recorded_at <= ${past.at}`],
    [present, holdsSince(past)],
    [former, isFormer],
  ];
  const where = ([state, condition]: [State, Condition]): Condition =>
    sql<boolean>`(${isIssued(selection)} and ${hasStatus(selection, state.status)} and ${condition})`;
  if (!getDialect(db).scansInParallel) {
    return parts.map(
      (part) => sql`select ${select(part[0])} from documents as d where ${where(part)}`,
    );
  }
  const choose = (name: keyof State): Expression =>
    sql`case when ${isFormer} then ${former[name]} else ${present[name]} end`;
  const state = {
    balance: choose("balance"),
    currency: choose("currency"),
    status: choose("status"),
    basis: sql.lit(RECORDS),
  };
  return [
    sql`select ${select(state)} from documents as d
      where ${sql.join(parts.map(where), sql` or `)}`,
  ];
};

/** A column of the last balance that was recorded of a document by then. */
const lastRecorded = ({ past }: Selection, column: string): Expression => sql`(
  select ${sql.ref(`r.${column}`)} from document_balances as r
  where r.tenant_id = d.tenant_id and r.document_number = d.document_number and r.recorded_at <= ${past.at}
  order by r.version desc limit 1)`;

/** Documents of whose balance then only the history tells: they have changed more than once since. */
const selectByHistory = (selection: Selection): Expression => {
  const { at } = selection.past;
  const [status, balance, currency] = ["status", "balance", "currency"].map((column) =>
    lastRecorded(selection, column),
  ) as [Expression, Expression, Expression];
  const state = { status, balance, currency, basis: sql.lit(RECORDS) };
  return sql`select ${select(state)} from documents as d
    where ${isIssued(selection)} and d.balance_recorded_at > ${at} and +d.balance_known_from <= ${at}
      and (d.former_at > ${at} or d.former_at is null) and ${hasStatus(selection, status)}`;
};

/** The amounts that payments applied to documents by then, as the matching of payments counts them. */
const sumPaid = (
  { db, tenantId, currency, past }: Selection,
  unrecorded: Unrecorded,
): Expression => {
  const among =
    "numbers" in unrecorded
      ? sql`and ${getDialect(db).isAmongKeys("p.document_number_folded", unrecorded.numbers.map(fold))}`
      : sql``;
  return sql`select o.document_number,
      sum(coalesce(p.applied_amount_order, 0) + coalesce(p.discount_taken_order, 0)) as paid
    from cashapp_payments as p join documents as o
      on o.tenant_id = p.tenant_id and o.document_number = p.document_number
    where p.tenant_id = ${tenantId} ${among}
      and coalesce(p.payment_date, p.deposit_date) <= ${past.day}
      and coalesce(p.currency_code, o.balance_currency, ${currency})
        = coalesce(o.balance_currency, ${currency})
      and coalesce(p.match_method, '') <> 'suggested'
      and not (coalesce(p.application_status, '') = 'reversed' and p.applied_amount_order > 0)
    group by o.document_number`;
};

/** The first balance in a document's history. */
const firstBalance = (column: string): Expression => sql`(select ${sql.ref(`f.${column}`)}
  from document_balances as f
  where f.tenant_id = d.tenant_id and f.document_number = d.document_number
  order by f.version limit 1)`;

/** Whether a closing by then ended a document; what came before the history is known from its first balance. */
const wasClosed = ({
  past,
}: Selection): Expression => sql`(exists (select 1 from document_closures as c
    where c.tenant_id = d.tenant_id and c.document_number = d.document_number
      and c.closed_at <= ${past.at})
  and case when d.balance_recorded_at is null then d.status = 'closed'
    else ${firstBalance("cause")} = 'reopened' end)`;

/** Half of the smallest amount: sums of doubles are not exact. */
const NOTHING = 0.0000005;

/** Documents without a record by then have their original amounts less what was paid by then. */
const selectByPayments = (
  selection: Selection,
  unrecorded: Unrecorded,
  isUnrecorded: Condition,
): Expression => {
  const left = sql`d.original_amount - coalesce(p.paid, 0)`;
  const known = sql`case when d.original_amount is not null then ${left}
    else coalesce(${firstBalance("balance")}, d.balance) end`;
  const facts = sql`select ${OWN}, d.balance_currency, ${wasClosed(selection)} as was_closed, ${known} as known, p.paid
    from documents as d left join paid as p on p.document_number = d.document_number
    where ${isIssued(selection)} and ${isUnrecorded}`;
  const isClosed = sql`(d.was_closed or coalesce(abs(d.known), 1) < ${sql.lit(NOTHING)})`;
  const status = sql`case when ${isClosed} then 'closed' else 'open' end`;
  const basis = sql`case when d.original_amount is null then ${sql.lit(FIRST)}
    when d.paid is null then ${sql.lit(ORIGINAL)} else ${sql.lit(PAYMENTS)} end`;
  const state = {
    balance: sql`case when ${isClosed} then 0 else d.known end`,
    currency: sql`d.balance_currency`,
    status,
    basis,
  };
  return sql`select ${select(state)} from (${facts}) as d where ${hasStatus(selection, status)}`;
};

/**
 * The documents as they stood at a moment, as a table with the columns of a summary and `basis`, the place of what each
 * balance rests on in {@link BASES}.
 */
export const selectPastDocuments = (selection: Selection, unrecorded: Unrecorded): Expression => {
  const parts = [...selectByRow(selection), selectByHistory(selection)];
  if ("none" in unrecorded) return sql`(${sql.join(parts, sql` union all `)})`;
  const byPayments = UNRECORDED.map((isUnrecorded) =>
    selectByPayments(selection, unrecorded, isUnrecorded(selection.past)),
  );
  return sql`(with paid as (${sumPaid(selection, unrecorded)})
    ${sql.join([...parts, ...byPayments], sql` union all `)})`;
};
