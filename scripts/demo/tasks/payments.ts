import { type Days, itemsBy, listOf, rowOf, type Task } from "./task.ts";

const source = "cashapp";
const ONCE =
  "(select paymentId, paymentMethod, paymentDate, payerName, currencyCode, paymentAmount amount from cashapp group by paymentId)";

/** Money received, and what was held back from it. */
export const paymentTasks = ({ month }: Days): Task[] => {
  const lastMonth = { paymentDate: { between: [month.from, month.to] } };
  const isLastMonth = `paymentDate between '${month.from}' and '${month.to}'`;
  return [
    {
      question: "What did we receive last month, by which method?",
      calls: [["payments_summarize", { source, filters: lastMonth, groupBy: ["paymentMethod"] }]],
      read: itemsBy("key/paymentMethod", "currencyCode", "payments", "sum/paymentAmount"),
      sql: `select paymentMethod, currencyCode, count(*), round(sum(amount), 2) from ${ONCE} where ${isLastMonth} group by 1, 2`,
    },
    {
      question: "Who takes the largest deductions?",
      calls: [
        [
          "payments_summarize",
          {
            source,
            filters: { shortPay: { eq: true } },
            groupBy: ["accountName"],
            measures: [{ op: "sum", field: "deductionAmount" }],
            limit: 5,
          },
        ],
      ],
      read: itemsBy("key/accountName", "currencyCode", "sum/deductionAmount"),
      sql: "select accountName, currencyCode, round(sum(deductionAmount), 2) from cashapp where shortPay = 1 group by 1, 2 order by 3 desc limit 5",
    },
    {
      question: "Why did customers hold money back last month?",
      calls: [
        [
          "payments_summarize",
          {
            source,
            filters: { ...lastMonth, shortPay: { eq: true } },
            groupBy: ["deductionReasonCode"],
            measures: [{ op: "sum", field: "deductionAmount" }],
            limit: 40,
          },
        ],
      ],
      read: itemsBy("key/deductionReasonCode", "currencyCode", "sum/deductionAmount"),
      sql: `select deductionReasonCode, currencyCode, round(sum(deductionAmount), 2) from cashapp where shortPay = 1 and ${isLastMonth} group by 1, 2`,
    },
    {
      question: "Which deductions has nobody claimed, by customer?",
      calls: [["deductions_without_dispute", { groupBy: "account", limit: 1 }]],
      before: [
        [
          "payments_query",
          {
            source,
            fields: [
              "accountNumber",
              "documentNumber",
              "paymentId",
              "currencyCode",
              "deductionAmount",
            ],
            filters: { deductionAmount: { gt: 0 } },
          },
        ],
        [
          "disputes_list",
          {
            Status: ["Open", "Closed"],
            fields: ["disputeCode", "documentNumber", "amount", "currencyCode"],
          },
        ],
      ],
      read: listOf("groups", "key", "currencyCode", "count", "amount"),
    },
    {
      question: "Which cash is not applied, and whose is it?",
      calls: [
        [
          "payments_summarize",
          {
            source,
            filters: { unappliedAmount: { gt: 0 } },
            groupBy: ["payerName"],
            measures: [{ op: "sum", field: "unappliedAmount" }],
            limit: 40,
          },
        ],
      ],
      read: itemsBy("key/payerName", "currencyCode", "sum/unappliedAmount"),
      sql: `select payerName, currencyCode, round(sum(u), 2) from (select payerName, currencyCode, max(unappliedAmount) u from cashapp
        where unappliedAmount > 0 group by paymentId) group by 1, 2`,
    },
    {
      question: "Who pays late in the portal: days from invoice to payment?",
      calls: [
        [
          "payments_summarize",
          {
            source: "iandp",
            filters: { currencyCode: { eq: "USD" } },
            groupBy: ["accountName"],
            measures: [{ op: "avg", field: "daysToPay" }],
            orderBy: "avg(daysToPay)",
            limit: 3,
          },
        ],
      ],
      read: itemsBy("key/accountName", "avg/daysToPay"),
      sql: "select accountName, round(avg(daysToPay), 6) from iandp where currencyCode = 'USD' group by 1 order by 2 desc, 1 limit 3",
    },
    {
      question: "What do payments of the network cost us?",
      calls: [
        ["payments_summarize", { source: "bpn", measures: [{ op: "sum", field: "feeAmount" }] }],
      ],
      read: itemsBy("currencyCode", "sum/feeAmount"),
      sql: "select currencyCode, round(sum(f), 2) from (select currencyCode, max(feeAmount) f from bpn group by networkPaymentId) group by 1",
    },
    {
      question: "Did our weekly export run?",
      calls: [["export_health", {}]],
      read: rowOf("failing", "overdue", "items/0/finding", "items/0/lastRun/rowCount"),
    },
  ];
};
