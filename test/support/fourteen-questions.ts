import type { CallArguments } from "../../src/contract/operation.ts";
import { itemsBy, type Question, totalsOf } from "./questions.ts";

const source = "cashapp";
const USD = { currencyCode: { eq: "USD" } };
const in2023 = { paymentDate: { between: ["2023-01-01", "2023-12-31"] } };

/** Payments once, however many rows they have. */
export const ONCE = `(select payment, "currencyCode" c, max("payerName") payer, max("paymentMethod") method,
  max("paymentDate") day, max("paymentAmount") / 1e6 amount from t group by payment)`;
const IN_2023 = "c = 'USD' and day between '2023-01-01' and '2023-12-31'";

/** The fourteen everyday questions. */
export const FOURTEEN: readonly Question[] = [
  [
    "payments to payers named X: number and sum",
    "payments_summarize",
    { source, filters: { payerName: { contains: "payer 3" } } },
    totalsOf,
    `select c, count(*), sum(amount) from ${ONCE} where payer = 'Payer 3' and c is not null group by c order by c`,
  ],
  [
    "top five payers of a year",
    "payments_summarize",
    {
      source,
      filters: { ...USD, ...in2023, payerName: { isNull: false } },
      groupBy: ["payerName"],
      limit: 5,
    },
    itemsBy("key.payerName", "payments", "sum.paymentAmount"),
    `select payer, count(*), sum(amount) from ${ONCE} where ${IN_2023} and payer is not null group by payer order by 3 desc limit 5`,
  ],
  [
    "paid per method in a year",
    "payments_summarize",
    { source, filters: { ...USD, ...in2023 }, groupBy: ["paymentMethod"] },
    itemsBy("key.paymentMethod", "sum.paymentAmount"),
    `select method, sum(amount) from ${ONCE} where ${IN_2023} group by method order by 2 desc`,
  ],
  [
    "negative payments: number and the most negative",
    "payments_summarize",
    {
      source,
      filters: { ...USD, paymentAmount: { lt: 0 } },
      measures: [{ op: "min", field: "paymentAmount" }],
      topRows: 1,
      topOrder: "smallest",
    },
    (result) =>
      itemsBy(
        "payments",
        "min.paymentAmount",
      )(result).map((row) => [
        ...row,
        (result["topRows"] as CallArguments[])[0]?.["paymentAmount"],
      ]),
    `select count(*), min(amount) a, min(amount) b from ${ONCE} where c = 'USD' and amount < 0`,
  ],
  [
    "month by month of a year, with the highest month",
    "payments_summarize",
    { source, filters: { ...USD, ...in2023 }, groupBy: ["paymentDate:month"] },
    itemsBy("key.paymentDate:month", "sum.paymentAmount"),
    `select substr(day, 1, 7), sum(amount) from ${ONCE} where ${IN_2023} group by 1 order by 1`,
  ],
  [
    "top three payer ids of all time",
    "payments_summarize",
    {
      source: "bpn",
      filters: { ...USD, payerId: { isNull: false } },
      groupBy: ["payerId"],
      limit: 3,
    },
    itemsBy("key.payerId", "sum.paymentAmount"),
    `select payerId, sum(amount) from (select "payerId" payerId, max("paymentAmount") / 1e6 amount from b
      where "currencyCode" = 'USD' and "payerId" is not null group by payment) group by 1 order by 2 desc limit 3`,
  ],
  [
    "payments above an amount since a day: number and sum",
    "payments_summarize",
    {
      source,
      filters: { ...USD, paymentAmount: { gt: 30_000 }, paymentDate: { gte: "2023-07-01" } },
    },
    totalsOf,
    `select c, count(*), sum(amount) from ${ONCE} where c = 'USD' and amount > 30000 and day >= '2023-07-01'`,
  ],
  [
    "open disputes: number, total, oldest",
    "disputes_summary",
    { status: "Open" },
    itemsBy("count", "amount", "oldest.createDate"),
    "select count(*), sum(cents) / 100.0, min(created) || 'T00:00:00.000Z' from l where closed is null",
  ],
  [
    "aging as of a day",
    "disputes_summary",
    { status: "Open", asOf: "2025-08-31", groupBy: ["age"] },
    itemsBy("key.age", "count", "amount"),
    `with a as (select *, julianday('2025-08-31') - julianday(created) d from l
        where created <= '2025-08-31' and (closed is null or closed > '2025-08-31')),
      k(name, low, high) as (values ('0-30', 0, 30), ('31-60', 31, 60), ('61-90', 61, 90), ('91+', 91, 9999))
      select name, count(a.number), coalesce(sum(cents), 0) / 100.0 from k left join a on d between low and high group by name order by low`,
  ],
  [
    "five accounts with most disputes ever",
    "disputes_summary",
    { groupBy: ["account"], orderBy: "count", limit: 5 },
    itemsBy("key.account", "count"),
    "select customer, count(*) from l group by 1 order by 2 desc, 1 limit 5",
  ],
  [
    "average days to close",
    "disputes_summary",
    { status: "Closed" },
    ({ avgDaysToClose, rowCount }) => [[avgDaysToClose, rowCount]],
    "select round(avg(julianday(closed) - julianday(created)) + 1e-9, 1), count(*) from l where closed is not null",
  ],
  [
    "open disputes on closed documents",
    "disputes_triage",
    { limit: 5 },
    (result) => [[(result["flags"] as CallArguments)["documentClosed"], result.rowCount]],
    "select sum(number in (select number from closedDocuments)), count(*) from l where closed is null",
  ],
  [
    "one account: its open documents, open and closed disputes",
    "account_overview",
    { account: "5-CUST" },
    itemsBy(
      "openDocuments.count",
      "openDocuments.totals.0.amount",
      "disputes.open.count",
      "disputes.closed.count",
    ),
    `select (select count(*) from openDocuments where customer = '5-CUST'),
      (select sum(cents) / 100.0 from openDocuments where customer = '5-CUST'),
      sum(closed is null), sum(closed is not null) from l where customer = '5-CUST'`,
  ],
  [
    "three months of creation with the highest disputed total",
    "disputes_summary",
    { groupBy: ["created:month"], orderBy: "amount", limit: 3 },
    itemsBy("key.created:month", "amount"),
    "select substr(created, 1, 7), sum(cents) / 100.0 from l group by 1 order by 2 desc limit 3",
  ],
];
