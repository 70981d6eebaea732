import type { CallArguments } from "../../src/contract/operation.ts";
import { ONCE } from "./fourteen-questions.ts";
import { itemsBy, type Question } from "./questions.ts";

const source = "cashapp";
const USD = { currencyCode: { eq: "USD" } };

const payments = (
  question: string,
  args: CallArguments,
  columns: string[],
  sql: string,
): Question => [question, "payments_summarize", { source, ...args }, itemsBy(...columns), sql];

const disputes = (
  question: string,
  args: CallArguments,
  columns: string[],
  sql: string,
): Question => [question, "disputes_summary", args, itemsBy(...columns), sql];

const YEARS = [2023, 2024];
const METHODS = ["ach", "wire", "check"];
const ACCOUNTS = ["1-CUST", "2-CUST", "3-CUST", "7-CUST"];
const DAYS = ["2025-03-31", "2025-06-30", "2025-09-15"];

const OPEN_AT = (day: string): string =>
  `created <= '${day}' and (closed is null or closed > '${day}')`;

/** Forty more questions in the same style, over payments and disputes. */
export const FORTY: readonly Question[] = [
  ...YEARS.flatMap((year) => {
    const filters = { ...USD, paymentDate: { between: [`${year}-01-01`, `${year}-12-31`] } };
    const where = `c = 'USD' and substr(day, 1, 4) = '${year}'`;
    return [
      payments(
        `total paid in ${year}`,
        { filters },
        ["payments", "sum.paymentAmount"],
        `select count(*), sum(amount) from ${ONCE} where ${where}`,
      ),
      payments(
        `quarters of ${year}`,
        { filters, groupBy: ["paymentDate:quarter"] },
        ["key.paymentDate:quarter", "payments"],
        `select substr(day, 1, 4) || '-Q' || ((substr(day, 6, 2) + 2) / 3), count(*) from ${ONCE} where ${where} group by 1 order by 1`,
      ),
      payments(
        `average payment in ${year}`,
        { filters, measures: [{ op: "avg", field: "paymentAmount" }] },
        ["avg.paymentAmount"],
        `select round(avg(amount), 6) from ${ONCE} where ${where}`,
      ),
      payments(
        `largest payment in ${year}`,
        { filters, measures: [{ op: "max", field: "paymentAmount" }] },
        ["max.paymentAmount"],
        `select max(amount) from ${ONCE} where ${where}`,
      ),
      payments(
        `accounts that paid in ${year}`,
        { filters, measures: [{ op: "countDistinct", field: "accountNumber" }] },
        ["countDistinct.accountNumber"],
        `select count(distinct "accountNumber") from t where "currencyCode" = 'USD' and substr("paymentDate", 1, 4) = '${year}'`,
      ),
    ];
  }),
  ...METHODS.flatMap((method) => [
    payments(
      `payers by ${method}`,
      {
        filters: { ...USD, paymentMethod: { eq: method }, payerName: { isNull: false } },
        groupBy: ["payerName"],
        limit: 3,
      },
      ["key.payerName", "sum.paymentAmount"],
      `select payer, sum(amount) from ${ONCE} where c = 'USD' and method = '${method}' and payer is not null group by 1 order by 2 desc limit 3`,
    ),
    payments(
      `applied by ${method} per account`,
      {
        filters: { ...USD, paymentMethod: { eq: method } },
        groupBy: ["accountNumber"],
        measures: [{ op: "sum", field: "appliedAmount" }],
        orderBy: "accountNumber",
      },
      ["key.accountNumber", "sum.appliedAmount"],
      `select "accountNumber", coalesce(sum("appliedAmount"), 0) / 1e6 from t where "currencyCode" = 'USD' and "paymentMethod" = '${method}' group by 1 order by 1 nulls last`,
    ),
  ]),
  payments(
    "short payments and their deductions",
    {
      filters: { ...USD, shortPay: { eq: true } },
      measures: [{ op: "sum", field: "deductionAmount" }],
    },
    ["rows", "sum.deductionAmount"],
    `select count(*), sum("deductionAmount") / 1e6 from t where "currencyCode" = 'USD' and "shortPay" = 1`,
  ),
  payments(
    "first and last day of payment",
    {
      filters: USD,
      measures: [
        { op: "min", field: "paymentDate" },
        { op: "max", field: "paymentDate" },
      ],
    },
    ["min.paymentDate", "max.paymentDate"],
    `select min("paymentDate"), max("paymentDate") from t where "currencyCode" = 'USD'`,
  ),
  payments(
    "documents with most payment rows",
    { filters: USD, groupBy: ["documentNumber"], orderBy: "rows", limit: 4 },
    ["key.documentNumber", "rows"],
    `select "documentNumber", count(*) from t where "currencyCode" = 'USD' group by 1 order by 2 desc, 1 limit 4`,
  ),
  ...DAYS.flatMap((day) => [
    disputes(
      `open on ${day}`,
      { status: "Open", asOf: day },
      ["count", "amount"],
      `select count(*), sum(cents) / 100.0 from l where ${OPEN_AT(day)}`,
    ),
    disputes(
      `average age on ${day}`,
      { status: "Open", asOf: day },
      ["avgAgeDays"],
      `select round(avg(julianday('${day}') - julianday(created)) + 1e-9, 1) from l where ${OPEN_AT(day)}`,
    ),
    disputes(
      `accounts with most open on ${day}`,
      { status: "Open", asOf: day, groupBy: ["account"], limit: 3 },
      ["key.account", "amount"],
      `select customer, sum(cents) / 100.0 from l where ${OPEN_AT(day)} group by 1 order by 2 desc limit 3`,
    ),
  ]),
  ...ACCOUNTS.flatMap((account) => [
    disputes(
      `disputes of ${account} by status`,
      { accountNumber: account.toLowerCase(), groupBy: ["status"], orderBy: "status" },
      ["key.status", "count"],
      `select case when closed is null then 'Open' else 'Closed' end, count(*) from l where customer = '${account}' group by 1 order by 1 desc`,
    ),
    disputes(
      `oldest dispute of ${account}`,
      { accountNumber: account },
      ["oldest.createDate"],
      `select min(created) || 'T00:00:00.000Z' from l where customer = '${account}'`,
    ),
  ]),
  disputes(
    "disputes above 150",
    { amountMin: 150.01 },
    ["count", "amount"],
    "select count(*), sum(cents) / 100.0 from l where cents > 15000",
  ),
  disputes(
    "closed per quarter",
    { status: "Closed", groupBy: ["closed:quarter"] },
    ["key.closed:quarter", "count"],
    "select substr(closed, 1, 4) || '-Q' || ((substr(closed, 6, 2) + 2) / 3), count(*) from l where closed is not null group by 1 order by 1",
  ),
  disputes(
    "slowest accounts to close",
    { status: "Closed", groupBy: ["account"], orderBy: "avgDaysToClose", limit: 1 },
    ["avgDaysToClose"],
    "select round(max(d) + 1e-9, 1) from (select avg(julianday(closed) - julianday(created)) d from l where closed is not null group by customer)",
  ),
  disputes(
    "created in February",
    { createdFrom: "2025-02-01", createdTo: "2025-02-28" },
    ["count"],
    "select count(*) from l where substr(created, 1, 7) = '2025-02'",
  ),
];
