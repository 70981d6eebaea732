import type { InsightResult } from "../../src/insights/insight.ts";
import { ONCE } from "./fourteen-questions.ts";
import { itemsBy, type Tool } from "./questions.ts";

type Call = readonly [tool: Tool, args: Record<string, unknown>];

/** A question of one kind of user, the calls that answer it, and the SQL that gives the same rows. */
export type Further = {
  who: "clerk" | "collections manager" | "controller" | "auditor";
  question: string;
  calls: readonly Call[];
  read: (results: readonly InsightResult[]) => unknown[][];
  sql: string;
};

const source = "cashapp";
const USD = { currencyCode: { eq: "USD" } };

const firstOf =
  (...paths: string[]) =>
  ([result]: readonly InsightResult[]): unknown[][] =>
    result === undefined ? [] : itemsBy(...paths)(result);

const countsBy = (result: InsightResult | undefined, key: string): Map<string, number> =>
  new Map(
    (result?.items ?? []).map((item) => [
      String((item["key"] as Record<string, unknown>)[key]),
      Number(item["count"]),
    ]),
  );

/** Adds up month by month what was open before, what was created, and what was closed. */
const toBacklog = ([before, created, closed]: readonly InsightResult[]): unknown[][] => {
  const [added, removed] = [countsBy(created, "created:month"), countsBy(closed, "closed:month")];
  let open = before?.rowCount ?? 0;
  return ["2025-04", "2025-05", "2025-06"].map((month) => {
    open += (added.get(month) ?? 0) - (removed.get(month) ?? 0);
    return [month, open];
  });
};

/** Questions in other words than the fourteen, and what each needs. */
export const FURTHER: readonly Further[] = [
  {
    who: "clerk",
    question: "Which accounts have large disputes that have no assignee?",
    calls: [
      [
        "disputes_summary",
        { status: "Open", unassigned: true, amountMin: 100, groupBy: ["account"], limit: 5 },
      ],
    ],
    read: firstOf("key.account", "count", "amount"),
    sql: "select customer, count(*), sum(cents) / 100.0 from l where closed is null and cents >= 10000 group by 1 order by 3 desc, 1 limit 5",
  },
  {
    who: "clerk",
    question: "Which payers have the most cash that is not applied?",
    calls: [
      [
        "payments_summarize",
        {
          source,
          filters: { ...USD, unappliedAmount: { gt: 0 }, payerName: { isNull: false } },
          groupBy: ["payerName"],
          measures: [{ op: "sum", field: "unappliedAmount" }],
          limit: 3,
        },
      ],
    ],
    read: firstOf("key.payerName", "sum.unappliedAmount"),
    sql: `select payer, sum(u) / 1e6 from (select max("payerName") payer, max("unappliedAmount") u from t
      where "currencyCode" = 'USD' and "unappliedAmount" > 0 and "payerName" is not null group by payment) group by 1 order by 2 desc limit 3`,
  },
  {
    who: "clerk",
    question: "What was paid on one document?",
    calls: [
      [
        "payments_summarize",
        {
          source,
          filters: { documentNumber: { eq: "D-7" } },
          measures: [{ op: "sum", field: "appliedAmount" }],
          orderBy: "rows",
        },
      ],
    ],
    read: firstOf("currencyCode", "rows", "sum.appliedAmount"),
    sql: `select "currencyCode", count(*), coalesce(sum("appliedAmount"), 0) / 1e6 from t where "documentNumber" = 'D-7' group by 1 order by 2 desc, "currencyCode" is null, 1`,
  },
  {
    who: "collections manager",
    question: "Who owes us most?",
    calls: [["documents_summary", { groupBy: ["account"], limit: 5 }]],
    read: firstOf("key.account", "count", "amount"),
    sql: "select customer, count(*), sum(cents) / 100.0 from openDocuments group by 1 order by 3 desc, 1 limit 5",
  },
  {
    who: "collections manager",
    question: "How much of what is open is disputed?",
    calls: [["documents_summary", { groupBy: [] }]],
    read: firstOf("amount", "disputedAmount"),
    sql: `select sum(o.cents) / 100.0, (select sum(l.cents) / 100.0 from l where closed is null
      and number in (select number from openDocuments)) from openDocuments o`,
  },
  {
    who: "collections manager",
    question: "How many open disputes explain themselves by a payment?",
    calls: [["payments_match_disputes", { limit: 1 }]],
    read: ([result]) => [
      [(result?.["matches"] as { exact: number } | undefined)?.exact, result?.rowCount],
    ],
    sql: "select 0, count(*) from l where closed is null",
  },
  {
    who: "controller",
    question: "How did the backlog of disputes develop in a quarter?",
    calls: [
      ["disputes_summary", { status: "Open", asOf: "2025-03-31" }],
      [
        "disputes_summary",
        { createdFrom: "2025-04-01", createdTo: "2025-06-30", groupBy: ["created:month"] },
      ],
      [
        "disputes_summary",
        { closedFrom: "2025-04-01", closedTo: "2025-06-30", groupBy: ["closed:month"] },
      ],
    ],
    read: toBacklog,
    sql: `with k(m) as (values ('2025-04'), ('2025-05'), ('2025-06'))
      select m, (select count(*) from l where created <= m || '-31' and (closed is null or closed > m || '-31')) from k`,
  },
  {
    who: "controller",
    question: "How long do disputes take to close, and how many take very long?",
    calls: [
      [
        "disputes_summary",
        { status: "Closed", groupBy: ["daysToClose"], ageBuckets: [15, 30, 45] },
      ],
    ],
    read: firstOf("key.daysToClose", "count"),
    sql: `select case when d <= 15 then '0-15' when d <= 30 then '16-30' when d <= 45 then '31-45' else '46+' end, count(*)
      from (select julianday(closed) - julianday(created) d from l where closed is not null) group by 1 order by 1`,
  },
  {
    who: "controller",
    question: "What share of the money comes from the top two payers?",
    calls: [
      [
        "payments_summarize",
        { source, filters: { ...USD, payerName: { isNull: false } }, groupBy: ["payerName"] },
      ],
    ],
    read: ([result]) => {
      const sums = itemsBy("sum.paymentAmount")(result as InsightResult).map(([sum]) =>
        Number(sum),
      );
      const all = Number(result?.currencyTotals[0]?.amount);
      return [[(Number(sums[0]) + Number(sums[1])) / all]];
    },
    sql: `with p as (select payer, sum(amount) s from ${ONCE} where c = 'USD' and payer is not null group by 1)
      select (select sum(s) from (select s from p order by s desc limit 2)) / (select sum(s) from p)`,
  },
  {
    who: "auditor",
    question: "Was anything paid twice: the same payer, day and amount?",
    calls: [
      [
        "payments_summarize",
        {
          source,
          filters: { ...USD, payerName: { isNull: false } },
          groupBy: ["payerName", "paymentDate", "paymentAmount"],
          orderBy: "payments",
          limit: 1,
        },
      ],
    ],
    read: firstOf("payments"),
    sql: `select max(n) from (select count(distinct payment) n from t where "currencyCode" = 'USD' and "payerName" is not null
      group by "payerName", "paymentDate", "paymentAmount")`,
  },
  {
    who: "auditor",
    question: "Which disputes were closed within a week, so perhaps without a look?",
    calls: [
      [
        "disputes_summary",
        { status: "Closed", groupBy: ["daysToClose"], ageBuckets: [7], limit: 1 },
      ],
    ],
    read: firstOf("key.daysToClose", "count", "amount"),
    sql: `select case when d <= 7 then '0-7' else '8+' end, count(*), sum(cents) / 100.0
      from (select julianday(closed) - julianday(created) d, cents from l where closed is not null) group by 1 order by 1 limit 1`,
  },
  {
    who: "auditor",
    question: "How many payments have no date, and how much are they?",
    calls: [["payments_summarize", { source, filters: { ...USD, paymentDate: { isNull: true } } }]],
    read: firstOf("payments", "sum.paymentAmount"),
    sql: `select count(*), sum(amount) from ${ONCE} where c = 'USD' and day is null`,
  },
];

/** Questions that need more than three calls, or have no answer, and why. */
export const BEYOND: readonly { question: string; why: string }[] = [
  {
    question: "Which promises to pay are due this week?",
    why: "Promises are words in notes, and no operation searches notes.",
  },
  {
    question: "How much was deducted on weekends?",
    why: "No grouping by weekday: days are listed one by one, and a year of them does not fit in an answer.",
  },
];
