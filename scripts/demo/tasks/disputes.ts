import { BRANCHES, type Days, itemsBy, listOf, rowOf, type Task, totals } from "./task.ts";

const TOTALS = "select currency, count(*), sum(cents) / 100.0 from disputes where";
const BY_CURRENCY = "group by 1 order by 2 desc, 1";
const NORTHGATE = "C-10616";
const DEADLINE = 45;
const NORTHGATES = [NORTHGATE, ...BRANCHES];
const ALL_PARENTS = [
  "accounts_list",
  { fields: ["accountNumber", "parent_account_number"] },
] as const;

/** Counts and sums of disputes. */
export const disputeTasks = ({ friday, month, before }: Days): Task[] => [
  {
    question: "How many disputes are open, and over how much in each currency?",
    calls: [["disputes_summary", { status: "Open" }]],
    read: totals,
    sql: `${TOTALS} status = 'Open' group by 1 order by 3 desc`,
  },
  {
    question: "How old are the open disputes?",
    calls: [["disputes_summary", { status: "Open", groupBy: ["age"] }]],
    read: itemsBy("key/age", "currencyCode", "count", "amount"),
    sql: `select case when age <= 30 then '0-30' when age <= 60 then '31-60' when age <= 90 then '61-90' else '91+' end, currency,
      count(*), sum(cents) / 100.0 from disputes where status = 'Open' group by 1, 2`,
  },
  {
    question: "What was open at the end of last month?",
    calls: [["disputes_summary", { status: "Open", asOf: month.to }]],
    read: totals,
    sql: `${TOTALS} created <= '${month.to}' and (ended is null or ended > '${month.to}') group by 1 order by 3 desc`,
  },
  {
    question: "Who has most of the open disputes older than 60 days?",
    calls: [
      [
        "disputes_summary",
        { status: "Open", olderThanDays: 60, groupBy: ["assignee"], orderBy: "count" },
      ],
    ],
    read: listOf("groups", "count"),
    sql: "select count(*) from disputes where status = 'Open' and age > 60 group by assignee order by 1 desc",
  },
  {
    question: "For which reasons do customers dispute in dollars?",
    calls: [["disputes_summary", { currencyCode: "USD", groupBy: ["reason"], limit: 5 }]],
    read: itemsBy("key/reason", "count", "amount"),
    sql: "select reason, count(*), sum(cents) / 100.0 from disputes where currency = 'USD' group by 1 order by 3 desc limit 5",
  },
  {
    question: "Which groups of companies dispute most, parents with their branches?",
    calls: [["disputes_summary", { status: "Open", groupBy: ["parent"], limit: 5 }]],
    before: [
      ["disputes_summary", { status: "Open", groupBy: ["account"], limit: 200 }],
      ALL_PARENTS,
    ],
    read: itemsBy("key/parent", "currencyCode", "count", "amount"),
    sql: "select top, currency, count(*), sum(cents) / 100.0 from disputes where status = 'Open' group by 1, 2 order by 4 desc limit 5",
  },
  {
    question: "What does Northgate Home Centers dispute, with all its branches?",
    calls: [["disputes_summary", { status: "Open", parentAccountNumber: NORTHGATE }]],
    before: [
      ["find_records", { text: "Northgate Home Centers", types: "account" }],
      ["disputes_summary", { status: "Open", accountNumber: NORTHGATES }],
    ],
    read: totals,
    sql: `${TOTALS} status = 'Open' and top = '${NORTHGATE}' ${BY_CURRENCY}`,
  },
  {
    question: "How many disputes were opened a week ago, by our days?",
    calls: [["disputes_summary", { createdFrom: before(7), createdTo: before(7) }]],
    read: rowOf("rowCount"),
    sql: `select count(*) from disputes where created = '${before(7)}'`,
  },
  {
    question: "How many disputes were opened and closed in each of the last months?",
    calls: [
      ["disputes_summary", { createdFrom: before(180), groupBy: ["created:month"], limit: 40 }],
      [
        "disputes_summary",
        { status: "Closed", closedFrom: before(180), groupBy: ["closed:month"], limit: 40 },
      ],
    ],
    read: ([created, closed]) => [
      ...listOf("groups", "key/created:month", "count")([created ?? {}]),
      ...listOf("groups", "key/closed:month", "count")([closed ?? {}]),
    ],
    sql: `select substr(created, 1, 7), count(*) from disputes where created >= '${before(180)}' group by 1
      union all select substr(closed, 1, 7), count(*) from disputes where closed >= '${before(180)}' group by 1`,
  },
  {
    question: "How long does it take to close disputes of each category?",
    calls: [["disputes_summary", { status: "Closed", groupBy: ["category"], limit: 40 }]],
    read: listOf("groups", "key/category", "count", "avgDaysToClose"),
    sql: `select category, count(*), round(avg(julianday(closed) - julianday(created)), 1) from disputes
      where closed is not null group by 1`,
  },
  {
    question: "How did disputes about short shipments end?",
    calls: [
      [
        "disputes_summary",
        {
          reason: "SHORT-SHIP",
          status: ["Closed", "Canceled"],
          groupBy: ["resolution"],
          limit: 40,
        },
      ],
    ],
    read: listOf("groups", "key/resolution", "count"),
    sql: "select resolution, count(*) from disputes where reason = 'Short shipment' and status <> 'Open' group by 1",
  },
  {
    question: "Which open disputes has nobody touched for a month?",
    calls: [["disputes_summary", { status: "Open", updatedBefore: before(30) }]],
    read: totals,
    sql: `${TOTALS} status = 'Open' and updated <= '${before(30)}' group by 1 order by 3 desc`,
  },
  {
    question: "Which open disputes above 5,000 have no assignee?",
    calls: [
      ["disputes_triage", { unassigned: true, amountMin: 5000, orderBy: "amount", limit: 20 }],
    ],
    read: itemsBy("disputeCode", "amount", "currencyCode"),
    sql: `select code, cents / 100.0, currency from disputes
      where status = 'Open' and assignee is null and cents >= 500000 order by cents desc`,
  },
  {
    question: "Which open disputes may be the same claim?",
    calls: [["disputes_triage", { flags: ["duplicate"] }]],
    read: itemsBy("disputeCode"),
    sql: `select code from disputes d where status = 'Open' and exists
      (select 1 from disputes o where o.status = 'Open' and o.document = d.document and o.cents = d.cents and o.code <> d.code)`,
  },
  {
    question: `We decide within ${DEADLINE} days: what is due this week or overdue?`,
    calls: [["disputes_triage", { flags: ["due"], deadlineDays: DEADLINE, limit: 5 }]],
    before: [["disputes_summary", { status: "Open", olderThanDays: DEADLINE - 8 }]],
    read: totals,
    sql: `${TOTALS} status = 'Open' and age >= ${DEADLINE - 7} group by 1 order by 3 desc`,
  },
  {
    question: "What happened since Friday?",
    calls: [["changes_since", { since: friday, limit: 1 }]],
    before: [["audit_logs_list", { from: friday, limit: 100_000 }]],
    read: rowOf("counts/opened", "counts/closed", "counts/canceled", "counts/note"),
    sql: `select (select count(*) from disputes where created >= '${friday}'),
      (select count(*) from disputes where closed >= '${friday}'),
      (select count(*) from disputes where status = 'Canceled' and updated >= '${friday}'),
      (select count(*) from notes where created >= '${friday}')`,
  },
  {
    question: "Which disputes were closed last month, by whom and how?",
    calls: [
      ["changes_since", { since: month.from, until: month.to, kinds: ["closed"], limit: 30 }],
    ],
    before: [
      [
        "disputes_triage",
        { status: "Closed", closedFrom: month.from, closedTo: month.to, limit: 50 },
      ],
      ["audit_logs_list", { action: "dispute.closed", from: month.from, to: month.to }],
    ],
    read: itemsBy("disputeCode", "amount", "by"),
    sql: `select code, cents / 100.0, closer from disputes where status = 'Closed' and closed between '${month.from}' and '${month.to}'`,
  },
  {
    question: "What decides D-5175194-01: notes, payments, and how did such cases end?",
    calls: [["dispute_packet", { disputeId: "D-5175194-01" }]],
    before: [
      ["dispute_packet", { disputeId: "D-5175194-01" }],
      [
        "disputes_summary",
        { reason: "DAMAGED", status: ["Closed", "Canceled"], groupBy: ["resolution"] },
      ],
    ],
    read: rowOf(
      "items/0/notesTotal",
      "items/0/precedents/tenant/cases",
      "items/0/payments/0/deductionAmount",
    ),
    sql: `select (select count(*) from notes where code = 'D-5175194-01'),
      (select count(*) from disputes where reason = 'Goods damaged in transit' and status <> 'Open'),
      (select cents / 100.0 from disputes where code = 'D-5175194-01')`,
  },
  {
    question: "Which open disputes does a payment explain to the cent?",
    calls: [["payments_match_disputes", { limit: 1 }]],
    read: rowOf("matches/exact", "rowCount"),
    sql: `select (select count(*) from (select code from disputes d where status = 'Open' and exists
      (select 1 from cashapp c where c.matchMethod <> 'suggested' and c.documentNumber = d.document and round(c.deductionAmount * 100) = d.cents))),
      (select count(*) from disputes where status = 'Open')`,
  },
  {
    question: "Which document does a customer mean who claims with a PO number?",
    calls: [
      ["match_claims", { lines: [{ reference: "P60724", amount: 420, reason: "short shipped" }] }],
    ],
    before: [
      ["documents_list", { search: "P60724" }],
      ["reasons_list", {}],
    ],
    read: itemsBy(
      "document/documentNumber",
      "document/accountName",
      "document/balance",
      "reason/reasonCode",
    ),
    sql: "select number, name, balance / 100.0, 'SHORT-SHIP' from documents where po = 'P60724'",
  },
];
