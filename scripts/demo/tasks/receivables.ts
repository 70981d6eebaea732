import { BRANCHES, type Days, itemsBy, listOf, rowOf, type Task, totals } from "./task.ts";

const OPEN = "select currency, count(*), sum(balance) / 100.0 from documents where status = 'open'";
const KILBRIDE = "C-11387";

/** Documents and accounts. */
export const receivablesTasks = ({ today, month, before }: Days): Task[] => [
  {
    question: "How old are our receivables?",
    calls: [["documents_summary", { groupBy: ["age"] }]],
    read: itemsBy("key/age", "currencyCode", "count", "amount"),
    sql: `select case when late <= 0 then 'current' when late <= 30 then '1-30' when late <= 60 then '31-60' when late <= 90 then '61-90' else '91+' end,
      currency, count(*), sum(balance) / 100.0 from documents where status = 'open' group by 1, 2`,
  },
  {
    question: "What were we owed at the end of last month?",
    calls: [["documents_summary", { asOf: month.to }]],
    before: [],
    read: totals,
  },
  {
    question: "Who owes us most?",
    calls: [["documents_summary", { groupBy: ["account"], limit: 5 }]],
    read: itemsBy("key/account", "currencyCode", "count", "amount"),
    sql: "select account, currency, count(*), sum(balance) / 100.0 from documents where status = 'open' group by 1, 2 order by 4 desc limit 5",
  },
  {
    question: "Who is over the credit limit, and by how much?",
    calls: [["documents_summary", { overLimit: true, limit: 5 }]],
    before: [
      ["documents_summary", { groupBy: ["account"], limit: 200 }],
      ["accounts_list", { fields: ["accountNumber", "parent_account_number", "credit_limit"] }],
    ],
    read: itemsBy("accountName", "amount", "creditLimit", "overBy"),
  },
  {
    question: "Who has been overdue for more than 90 days?",
    calls: [["documents_summary", { dueTo: before(91), groupBy: ["account"], limit: 5 }]],
    read: itemsBy("key/account", "currencyCode", "count", "amount"),
    sql: "select account, currency, count(*), sum(balance) / 100.0 from documents where status = 'open' and late > 90 group by 1, 2 order by 4 desc limit 5",
  },
  {
    question: "What falls due within a week?",
    calls: [["documents_summary", { dueFrom: today, dueTo: before(-7) }]],
    read: totals,
    sql: `${OPEN} and due between '${today}' and '${before(-7)}' group by 1 order by 3 desc`,
  },
  {
    question: "What did we invoice in each month of this quarter and the last?",
    calls: [
      [
        "documents_summary",
        {
          status: "all",
          type: "invoice",
          invoiceFrom: before(150),
          groupBy: ["invoice:month"],
          measure: "originalAmount",
          limit: 40,
        },
      ],
    ],
    before: [
      [
        "documents_list",
        {
          document_type: "invoice",
          fields: ["documentNumber", "invoice_date", "currency", "original_denomination"],
        },
      ],
    ],
    read: itemsBy("key/invoice:month", "currencyCode", "count", "amount"),
    sql: `select substr(invoiced, 1, 7), currency, count(*), sum(original) / 100.0 from documents
      where type = 'invoice' and invoiced >= '${before(150)}' group by 1, 2`,
  },
  {
    question: "How were last month's documents closed, and over how much?",
    calls: [
      [
        "documents_summary",
        {
          status: "closed",
          closedFrom: month.from,
          closedTo: month.to,
          groupBy: ["closureReason"],
          measure: "originalAmount",
        },
      ],
    ],
    before: [],
    read: itemsBy("key/closureReason", "currencyCode", "count", "amount"),
    sql: `select closing, currency, count(*), sum(original) / 100.0 from documents
      where status = 'closed' and closed between '${month.from}' and '${month.to}' group by 1, 2`,
  },
  {
    question: "How does Kilbride Engineering stand?",
    calls: [["account_overview", { account: "Kilbride" }]],
    read: rowOf(
      "items/0/openDocuments/count",
      "items/0/openDocuments/totals/0/amount",
      "items/0/disputes/open/count",
    ),
    sql: `select count(*), sum(balance) / 100.0, (select count(*) from disputes where account = '${KILBRIDE}' and status = 'Open')
      from documents where account = '${KILBRIDE}' and status = 'open'`,
  },
  {
    question:
      "What does Northgate Home Centers owe with all its branches, and which branch owes how much?",
    calls: [["account_overview", { account: "C-10616", includeChildren: true }]],
    before: [
      ["find_records", { text: "Northgate Home Centers", types: "account" }],
      ...["C-10616", ...BRANCHES].map((account) => ["account_overview", { account }] as const),
    ],
    read: rowOf(
      "items/0/openDocuments/count",
      "items/0/openDocuments/totals/0/amount",
      "items/0/family/membersTotal",
    ),
    sql: `select count(*), sum(balance) / 100.0, (select count(*) from accounts where top = 'C-10616')
      from documents where top = 'C-10616' and status = 'open'`,
  },
  {
    question: "A statement of last month for Kilbride Engineering, as an Excel file?",
    calls: [
      ["account_statement", { account: KILBRIDE, from: month.from, to: month.to, save: "xlsx" }],
    ],
    before: [],
    read: listOf("balances", "currencyCode", "openingBalance", "closingBalance", "disputed"),
  },
  {
    question: "Which credit applications wait for us, and what do they lack?",
    calls: [["credit_queue", { limit: 5 }]],
    read: itemsBy("companyName", "status", "waitingDays", "missing"),
  },
];
