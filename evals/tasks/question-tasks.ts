import { daysBefore } from "../../scripts/demo/calendar.ts";
import type { Task } from "../task.ts";
import { ASSIGNEES } from "../world/configuration.ts";
import type { World } from "../world/index.ts";
import { DISPUTE_CODE, DOCUMENT_NUMBER } from "./grading.ts";
import { askFigures, askRecords } from "./questions.ts";
import { findTruths, once, perCurrency, rank, sum } from "./truths.ts";

const ACCOUNT_NUMBER = /K-\d{5}/g;
const ASSIGNEE_NAME = new RegExp(
  ASSIGNEES.map((one) => `${one.firstName} ${one.lastName}`).join("|"),
  "g",
);

const summarize = (args: object) => ({ name: "disputes_summary", arguments: { ...args } });
const addUp = (args: object) => ({ name: "payments_summarize", arguments: { ...args } });

const createOpenQuestions = (world: World): Task[] => {
  const { open, openOf } = findTruths(world);
  const { northfield, halvorson } = world.cast;
  const { parent, east, west, canada, quebec, similar } = northfield;
  const family = openOf([parent, east, west, canada, quebec]);
  const notEnded = world.records.disputes.filter((one) => one.status !== "Closed");
  const unassigned = open
    .filter((one) => one.assignee === undefined && one.currency === "GBP")
    .toSorted((one, other) => other.amount - one.amount)
    .map(({ code }) => code);
  const assigned = open
    .filter((one) => one.assignee !== undefined && one.currency === "GBP")
    .toSorted((one, other) => other.amount - one.amount);
  return [
    askFigures(
      {
        name: "open-by-currency",
        prompt: "Over how much are our open disputes, in each currency?",
        calls: [summarize({ status: "Open" })],
      },
      perCurrency(open, ({ amount }) => amount),
      [
        ...perCurrency(notEnded, ({ amount }) => amount),
        ["all", { cents: sum(open, ({ amount }) => amount) }],
      ],
    ),
    askFigures(
      {
        name: "family-of-a-parent",
        prompt:
          "How much do Northfield Stores Group and everything below it dispute at present, in each currency?",
        calls: [summarize({ status: "Open", parentAccountNumber: parent.number })],
      },
      perCurrency(family, ({ amount }) => amount),
      [
        ...perCurrency(openOf([parent]), ({ amount }) => amount),
        ...perCurrency([...family, ...openOf([similar])], ({ amount }) => amount),
        ...perCurrency(openOf([canada]), ({ amount }) => amount),
      ],
    ),
    askFigures(
      {
        name: "near-identical-customer",
        prompt: "How much does Halvorson Supply Co. dispute at present, all together?",
        calls: [summarize({ status: "Open", accountNumber: halvorson.son.number })],
      },
      perCurrency(openOf([halvorson.son]), ({ amount }) => amount),
      [
        ...perCurrency(openOf([halvorson.sen]), ({ amount }) => amount),
        ...perCurrency(openOf([halvorson.son, halvorson.sen]), ({ amount }) => amount),
        ...perCurrency(
          openOf([halvorson.son, halvorson.sen, halvorson.corp]),
          ({ amount }) => amount,
        ),
      ],
    ),
    askRecords(
      {
        name: "largest-unassigned",
        prompt:
          "Which five open disputes in pounds are the largest without an assignee? Name their dispute numbers alone.",
        calls: [
          {
            name: "disputes_triage",
            arguments: { unassigned: true, currencyCode: "GBP", orderBy: "amount", limit: 5 },
          },
        ],
      },
      DISPUTE_CODE,
      unassigned.slice(0, 5),
      assigned.slice(0, 1).map(({ code }) => code),
    ),
  ];
};

const createPeriodQuestions = (world: World): Task[] => {
  const { month, isInMonth, open } = findTruths(world);
  const { disputes } = world.records;
  const shortShip = disputes.filter(
    (one) => one.reason === "SHORT-SHIP" && one.currency === "USD" && isInMonth(one.closed),
  );
  const closed = shortShip.filter((one) => one.status === "Closed");
  const created = disputes.filter((one) => isInMonth(one.created));
  const damaged = disputes.filter((one) => one.reason === "DAMAGED");
  const valid = damaged.filter((one) => one.resolution?.startsWith("CREDIT") === true);
  const ended = damaged.filter((one) => one.status === "Closed");
  const notOpen = damaged.filter((one) => one.status !== "Open");
  const until = daysBefore(new Date(`${world.day}T00:00:00Z`), 61);
  const byAssignee = rank(
    open.filter((one) => one.assignee !== undefined && one.created.slice(0, 10) <= until),
    (one) => one.assignee ?? "",
    () => 1,
  ).map(([email]) => {
    const person = ASSIGNEES.find((one) => one.email === email);
    return `${person?.firstName} ${person?.lastName}`;
  });
  return [
    askFigures(
      {
        name: "closed-not-canceled",
        prompt: `How many disputes in US dollars about short shipments were closed in ${month.name}, and over how much? Canceled ones do not count.`,
        calls: [
          summarize({
            status: "Closed",
            reason: "SHORT-SHIP",
            currencyCode: "USD",
            closedFrom: month.from,
            closedTo: month.to,
          }),
        ],
      },
      [
        ["closed", { count: closed.length }],
        ["USD", { cents: sum(closed, ({ amount }) => amount) }],
      ],
      [["with canceled", { cents: sum(shortShip, ({ amount }) => amount) }]],
    ),
    askFigures(
      {
        name: "opened-in-a-month",
        prompt: `How many disputes were opened in ${month.name}, whatever became of them?`,
        calls: [summarize({ createdFrom: month.from, createdTo: month.to })],
      },
      [["opened", { count: created.length }]],
      [["still open", { count: created.filter((one) => one.status === "Open").length }]],
    ),
    askFigures(
      {
        name: "valid-or-not",
        prompt:
          "Of all closed disputes about goods damaged in transit, how many were valid and how many were not?",
        calls: [
          summarize({ status: "Closed", reason: "DAMAGED", groupBy: ["resolution"], limit: 40 }),
        ],
      },
      [
        ["valid", { count: valid.length }],
        ["not valid", { count: ended.length - valid.length }],
      ],
      [["not valid", { count: notOpen.length - valid.length }]],
    ),
    askRecords(
      {
        name: "most-old-disputes",
        prompt: `Who has the most open disputes that were created up to ${until}? Give the name alone.`,
        calls: [
          summarize({ status: "Open", createdTo: until, groupBy: ["assignee"], orderBy: "count" }),
        ],
      },
      ASSIGNEE_NAME,
      byAssignee.slice(0, 1),
      byAssignee.slice(1, 2),
    ),
  ];
};

const createCashQuestions = (world: World): Task[] => {
  const { month, isInMonth, cash } = findTruths(world);
  const received = cash.filter((one) => isInMonth(one.day));
  const between = { paymentDate: { between: [month.from, month.to] } };
  const dollars = cash.filter((one) => one.currency === "USD" && one.deducted !== undefined);
  const deductors = rank(
    dollars,
    (one) => one.account,
    (one) => one.deducted ?? 0,
  );
  const rest = cash.filter((one) => one.currency === "EUR" && (one.unapplied ?? 0) > 0);
  const network = world.records.payments.filter(
    (one) => one.source === "bpn" && isInMonth(one.day),
  );
  return [
    askFigures(
      {
        name: "received-in-a-month",
        prompt: `How much money did cash application receive in ${month.name}, in each currency?`,
        calls: [addUp({ source: "cashapp", filters: between })],
      },
      perCurrency(once(received), ({ total }) => total),
      perCurrency(received, ({ total }) => total),
    ),
    askRecords(
      {
        name: "largest-deductions",
        prompt:
          "Which three customers held back most in US dollars, by all deductions of cash application? Name their account numbers alone.",
        calls: [
          addUp({
            source: "cashapp",
            filters: { currencyCode: { eq: "USD" } },
            groupBy: ["accountNumber"],
            measures: [{ op: "sum", field: "deductionAmount" }],
            orderBy: "sum(deductionAmount)",
            limit: 3,
          }),
        ],
      },
      ACCOUNT_NUMBER,
      deductors.slice(0, 3).map(([number]) => number),
      deductors.slice(3, 4).map(([number]) => number),
    ),
    askFigures(
      {
        name: "unapplied-cash",
        prompt: "How many euros of cash application are not applied to any document?",
        calls: [
          addUp({
            source: "cashapp",
            filters: { currencyCode: { eq: "EUR" } },
            measures: [{ op: "sum", field: "unappliedAmount" }],
          }),
        ],
      },
      perCurrency(once(rest), ({ unapplied }) => unapplied),
      perCurrency(rest, ({ unapplied }) => unapplied),
    ),
    askFigures(
      {
        name: "received-by-network",
        prompt: `How much did customers pay through the payment network in ${month.name}, in each currency?`,
        calls: [addUp({ source: "bpn", filters: between })],
      },
      perCurrency(network, ({ total }) => total),
      [["all", { cents: sum(network, ({ total }) => total) }]],
    ),
  ];
};

const createDocumentQuestions = ({ records, cast: { castlegate, portal } }: World): Task[] => {
  const { buyer, stranger, samePo, foreignPo, po, check } = castlegate;
  const documentsOf = (number: string) => records.documents.filter((one) => one.account === number);
  const owed = documentsOf(buyer.number);
  const rows = records.payments.filter((one) => one.document === portal.invoice.number);
  const moved = (statuses: readonly string[]) =>
    sum(
      rows.filter((one) => statuses.includes(one.status ?? "")),
      ({ applied }) => applied,
    );
  const { original, balance } = portal.invoice;
  const listDocuments = [{ name: "documents_list", arguments: { account_number: buyer.number } }];
  return [
    askRecords(
      {
        name: "documents-of-a-check",
        prompt: `Which documents did Castlegate Foods pay with check ${check}? Name the document numbers alone.`,
        calls: [
          {
            name: "payments_query",
            arguments: {
              source: "cashapp",
              filters: { paymentReference: { eq: check }, accountNumber: { eq: buyer.number } },
            },
          },
        ],
      },
      DOCUMENT_NUMBER,
      samePo.map(({ number }) => number),
      documentsOf(stranger.number)
        .filter((one) => one !== foreignPo)
        .map(({ number }) => number),
    ),
    askRecords(
      {
        name: "documents-of-an-order",
        prompt: `Which invoices of Castlegate Foods are on purchase order ${po}? Name the document numbers alone.`,
        calls: listDocuments,
      },
      DOCUMENT_NUMBER,
      samePo.map(({ number }) => number),
      [foreignPo.number],
    ),
    askFigures(
      {
        name: "owed-in-two-currencies",
        prompt: "What does Castlegate Foods owe us at present, in each currency?",
        calls: listDocuments,
      },
      perCurrency(owed, (one) => one.balance),
      [["all", { cents: sum(owed, (one) => one.balance) }]],
    ),
    askFigures(
      {
        name: "paid-in-the-portal",
        prompt: `How much has Brightwater Clinics really paid on invoice ${portal.invoice.number} in the portal? What failed or was paid back does not count.`,
        calls: [
          {
            name: "payments_query",
            arguments: {
              source: "iandp",
              filters: { documentNumber: { eq: portal.invoice.number } },
            },
          },
        ],
      },
      [["paid", { cents: moved(["settled"]) }]],
      [
        ["with refunds", { cents: moved(["settled", "refunded"]) }],
        ["with attempts", { cents: moved(["settled", "refunded", "failed"]) }],
      ],
    ),
    askFigures(
      {
        name: "remaining-balance",
        prompt: `How much of invoice ${portal.invoice.number} is still to be paid?`,
        calls: [{ name: "documents_get", arguments: { document_number: portal.invoice.number } }],
      },
      [["balance", { cents: balance }]],
      [["balance", { cents: original - moved(["settled", "refunded"]) }]],
    ),
  ];
};

/** Questions with a trap. */
export const createQuestionTasks = (world: World): Task[] => [
  ...createOpenQuestions(world),
  ...createPeriodQuestions(world),
  ...createCashQuestions(world),
  ...createDocumentQuestions(world),
];
