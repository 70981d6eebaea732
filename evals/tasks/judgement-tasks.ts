import type { Task } from "../task.ts";
import type { World } from "../world/index.ts";
import type { Dispute } from "../world/records.ts";
import { DISPUTE_CODE, DOCUMENT_NUMBER } from "./grading.ts";
import { askRecords } from "./questions.ts";

const RESOLUTION = /CREDIT-FULL|CREDIT-PART|NO-ERROR|REPAID/g;

const codes = (disputes: readonly Dispute[]): string[] => disputes.map(({ code }) => code);
const listOf = (account: { number: string }) => ({
  name: "disputes_list",
  arguments: { AccountNumber: account.number },
});
/** The open disputes of an account with the last note of each. */
const lastNotesOf = (account: { number: string }) => ({
  name: "disputes_triage",
  arguments: { accountNumber: account.number, limit: 20 },
});

const kind = "judgement" as const;

const createRules = ({ cast: { deadlines, twice, limits } }: World): Task[] => [
  askRecords(
    {
      name: "first-by-deadline",
      kind,
      prompt:
        "Our rule: open disputes older than 45 days come first, among them the largest amount. Which dispute of Tidewater Marine Stores do we work on first? Name its number alone.",
      calls: [listOf(deadlines.buyer)],
    },
    DISPUTE_CODE,
    codes([deadlines.first]),
    codes([deadlines.young]),
  ),
  askRecords(
    {
      name: "overdue-and-unassigned",
      kind,
      prompt:
        "Which open disputes of Tidewater Marine Stores are older than 45 days and still need somebody to work on them? Name their numbers alone.",
      calls: [listOf(deadlines.buyer)],
    },
    DISPUTE_CODE,
    codes([deadlines.first, deadlines.second]),
    codes([deadlines.third]),
  ),
  askRecords(
    {
      name: "one-claim-twice",
      kind,
      prompt:
        "Ferncliff Schools may have claimed one thing twice: same document, same amount. Which dispute is the repetition, that is the later one? Name its number alone.",
      calls: [listOf(twice.buyer)],
    },
    DISPUTE_CODE,
    codes([twice.repeated]),
    codes([twice.neighbour]),
  ),
  askRecords(
    {
      name: "more-than-the-document",
      kind,
      prompt:
        "Which disputes of Penrose Laboratories are over more than their document was? Name their numbers alone.",
      calls: [
        listOf(limits.buyer),
        { name: "documents_list", arguments: { account_number: limits.buyer.number } },
      ],
    },
    DISPUTE_CODE,
    codes(limits.tooLarge),
    codes([limits.exact]),
  ),
  askRecords(
    {
      name: "nothing-left-to-collect",
      kind,
      prompt:
        "Which open disputes of Penrose Laboratories are about documents of which nothing is owed any more? Name their numbers alone.",
      calls: [
        listOf(limits.buyer),
        { name: "documents_list", arguments: { account_number: limits.buyer.number } },
      ],
    },
    DISPUTE_CODE,
    codes(limits.moot),
    codes([limits.small]),
  ),
];

const createEvidence = ({ cast: { deductions, precedents, notes, claim } }: World): Task[] => {
  const explained = deductions.disputes.slice(1, 2);
  const { signed, lost, promised, refused } = notes;
  return [
    askRecords(
      {
        name: "explained-by-a-deduction",
        kind,
        prompt:
          "Which dispute of Oldham Kitchen Works is to the cent what a payment held back on the same document? Name its number alone.",
        calls: [
          {
            name: "payments_query",
            arguments: {
              source: "cashapp",
              filters: { accountNumber: { eq: deductions.buyer.number } },
            },
          },
        ],
      },
      DISPUTE_CODE,
      codes(explained),
      codes(deductions.disputes.slice(2)),
    ),
    askRecords(
      {
        name: "deduction-nobody-claimed",
        kind,
        prompt:
          "On which invoice did Oldham Kitchen Works hold money back although there is no dispute on it? Name the document number alone.",
        calls: [
          listOf(deductions.buyer),
          {
            name: "deductions_without_dispute",
            arguments: { accountNumber: deductions.buyer.number },
          },
        ],
      },
      DOCUMENT_NUMBER,
      [deductions.unclaimed.number],
      deductions.disputes.slice(2).map(({ document }) => document),
    ),
    askRecords(
      {
        name: "as-in-former-cases",
        kind,
        prompt: `How did most of Gallows Hill Brewing's own former disputes about freight end? We want to end ${precedents.open.code} likewise: name the code of the resolution alone.`,
        calls: [listOf(precedents.buyer)],
      },
      RESOLUTION,
      ["CREDIT-PART"],
      ["NO-ERROR"],
    ),
    askRecords(
      {
        name: "refuted-by-a-note",
        kind,
        prompt:
          "Whitcombe Hotels says of three deliveries that they never came. Which claim do our notes refute? Name the dispute number alone.",
        calls: [lastNotesOf(notes.buyer)],
      },
      DISPUTE_CODE,
      codes([signed]),
      codes([lost]),
    ),
    askRecords(
      {
        name: "promised-but-open",
        kind,
        prompt:
          "For which open disputes of Whitcombe Hotels did we promise a credit? Name their numbers alone.",
        calls: [lastNotesOf(notes.buyer)],
      },
      DISPUTE_CODE,
      codes(promised),
      codes([refused]),
    ),
    askRecords(
      {
        name: "document-of-a-claim",
        kind,
        prompt: `Ravensworth Estates claims 1,250.00 USD for short shipment on purchase order ${claim.po}. Which invoice can that be: one that still owes as much? Name the document number alone.`,
        calls: [{ name: "documents_list", arguments: { account_number: claim.buyer.number } }],
      },
      DOCUMENT_NUMBER,
      [claim.meant.number],
      [claim.credit.number],
    ),
  ];
};

/** Judgements by a rule, by precedents and by what notes and payments say. */
export const createJudgementTasks = (world: World): Task[] => [
  ...createRules(world),
  ...createEvidence(world),
];
