import type { Task, Transcript } from "../task.ts";
import { ASSIGNEES, emailOf, REASONS } from "../world/configuration.ts";
import type { World } from "../world/index.ts";
import type { Dispute } from "../world/records.ts";
import { type Changes, expectChanges, money } from "./grading.ts";

const update = (one: Dispute, args: object) => ({
  name: "disputes_update",
  arguments: { disputeId: one.code, ...args },
});

const addNote = (one: Dispute, content: string, visibility: string) => ({
  name: "dispute_notes_create",
  arguments: { disputeId: one.code, content, visibility },
});

const done = (calls: Transcript["calls"]): Transcript => ({ calls, answer: "Done." });

const nameOf = (firstName: string): string => {
  const found = ASSIGNEES.find((one) => one.firstName === firstName);
  return `${found?.firstName} ${found?.lastName}`;
};

/** A change: what is asked, the state that is right, the calls that lead there, and calls that do something else. */
type Given = {
  name: string;
  prompt: string;
  changes: Changes;
  right: Transcript["calls"];
  wrong: readonly Transcript["calls"][];
};

const toTask = ({ name, prompt, changes, right, wrong }: Given): Task => ({
  name,
  kind: "change",
  prompt,
  grade: (outcome) => expectChanges(outcome, changes),
  right: done(right),
  // Saying that it is done does not do it.
  wrong: [done([]), ...wrong.map(done)],
});

const createAssignments = ({ cast: { changes, halvorson } }: World): Given[] => [
  {
    name: "assign-one",
    prompt: `Give dispute ${changes.assign.code} to Ingrid Solberg.`,
    changes: { disputes: { [changes.assign.code]: { assigneeName: nameOf("Ingrid") } } },
    right: [update(changes.assign, { assigneeEmail: emailOf("Ingrid") })],
    wrong: [[update(changes.assign, { assigneeEmail: emailOf("Kofi") })]],
  },
  {
    name: "assign-similar-name",
    prompt: `Mario Delgado in Logistics takes over dispute ${changes.assignMario.code}.`,
    changes: { disputes: { [changes.assignMario.code]: { assigneeName: nameOf("Mario") } } },
    right: [update(changes.assignMario, { assigneeEmail: emailOf("Mario") })],
    wrong: [[update(changes.assignMario, { assigneeEmail: emailOf("Maria") })]],
  },
  {
    name: "reassign",
    prompt: `Kofi is on leave. Move dispute ${changes.reassign.code} to Grace Okafor, and leave all his others.`,
    changes: { disputes: { [changes.reassign.code]: { assigneeName: nameOf("Grace") } } },
    right: [update(changes.reassign, { assigneeEmail: emailOf("Grace") })],
    wrong: [[update(changes.reassign, { assigneeEmail: emailOf("Grace"), status: "Closed" })]],
  },
  {
    name: "clear-assignee",
    prompt: `Nobody should be assigned to dispute ${changes.free.code} any more.`,
    changes: { disputes: { [changes.free.code]: { assigneeName: null } } },
    right: [update(changes.free, { assigneeEmail: null })],
    wrong: [[update(changes.free, { assigneeEmail: emailOf("Leon") })]],
  },
  {
    name: "assign-unassigned-of-customer",
    prompt:
      "Assign every open dispute of Halvorson Supply Co. that has no assignee to Leon Fischer. Those that somebody has stay there.",
    changes: {
      disputes: Object.fromEntries(
        halvorson.unassigned.map(({ code }) => [code, { assigneeName: nameOf("Leon") }]),
      ),
    },
    right: [
      {
        name: "disputes_apply",
        arguments: {
          where: { accountNumber: halvorson.son.number, status: "Open", unassigned: true },
          change: { assigneeEmail: emailOf("Leon") },
        },
      },
    ],
    wrong: [halvorson.others.map((one) => update(one, { assigneeEmail: emailOf("Leon") }))],
  },
];

const createNotes = ({ cast: { changes } }: World): Given[] => [
  {
    name: "add-internal-note",
    prompt: `Add an internal note to dispute ${changes.noted.code}: "Tax office confirmed the exemption."`,
    changes: {
      notes: [
        {
          dispute: changes.noted.code,
          includes: ["Tax office confirmed the exemption."],
          visibility: "Internal",
        },
      ],
    },
    right: [addNote(changes.noted, "Tax office confirmed the exemption.", "Internal")],
    wrong: [[addNote(changes.noted, "Tax office confirmed the exemption.", "All")]],
  },
  {
    name: "add-note-for-customer",
    prompt: `Tell the customer in a note they can see, on dispute ${changes.valid.code}: "Please send photos of the damage."`,
    changes: {
      notes: [
        {
          dispute: changes.valid.code,
          includes: ["Please send photos of the damage."],
          visibility: "All",
        },
      ],
    },
    right: [addNote(changes.valid, "Please send photos of the damage.", "All")],
    wrong: [[addNote(changes.valid, "Please send photos of the damage.", "Internal")]],
  },
];

const createFields = ({ cast: { changes } }: World): Given[] => [
  {
    name: "change-amount",
    prompt: `The customer reduced the claim ${changes.amount.code} by 60.50. Correct its amount.`,
    changes: {
      disputes: { [changes.amount.code]: { amount: (changes.amount.amount - 6050) / 100 } },
    },
    right: [update(changes.amount, { amount: (changes.amount.amount - 6050) / 100 })],
    wrong: [[update(changes.amount, { amount: 60.5 })]],
  },
  {
    name: "change-reason",
    prompt: `Dispute ${changes.reason.code} is about the contract price, not the purchase order. Correct its reason.`,
    changes: {
      disputes: { [changes.reason.code]: { reasonName: REASONS["PRICE-CONTRACT"]?.[1] } },
    },
    right: [update(changes.reason, { reasonCode: "PRICE-CONTRACT" })],
    wrong: [[update(changes.reason, { reasonCode: "FREIGHT" })]],
  },
  {
    name: "set-purchase-order",
    prompt: `Set the purchase order of dispute ${changes.order.code} to LF-2207.`,
    changes: { disputes: { [changes.order.code]: { poNumber: "LF-2207" } } },
    right: [update(changes.order, { poNumber: "LF-2207" })],
    wrong: [[update(changes.order, { poNumber: "LF-2270" })]],
  },
];

const createEndings = ({ cast: { changes, twice } }: World): Given[] => {
  const { several, aboveLimit } = changes;
  const small = [...several, changes.aboveLimit, changes.otherReason];
  const freight = { status: "Closed", resolutionCode: "CREDIT-FULL" };
  const closed = { status: 1, resolutionCode: "CREDIT-FULL", isValid: true };
  return [
    {
      name: "close-as-not-valid",
      prompt: `Close dispute ${changes.invalid.code}: we found no error.`,
      changes: {
        disputes: {
          [changes.invalid.code]: { status: 1, resolutionCode: "NO-ERROR", isValid: false },
        },
      },
      right: [update(changes.invalid, { status: "Closed", resolutionCode: "NO-ERROR" })],
      wrong: [[update(changes.assign, { status: "Closed", resolutionCode: "NO-ERROR" })]],
    },
    {
      name: "close-as-valid",
      prompt: `Close dispute ${changes.two[0]?.code}: the claim is right, a credit over all of it is issued.`,
      changes: { disputes: { [changes.two[0]?.code ?? ""]: closed } },
      right: changes.two.slice(0, 1).map((one) => update(one, freight)),
      wrong: [changes.two.slice(1).map((one) => update(one, freight))],
    },
    {
      name: "cancel-repeated-claim",
      prompt: `Dispute ${twice.repeated.code} was opened a second time by mistake. Cancel it, it was never decided.`,
      changes: { disputes: { [twice.repeated.code]: { status: 2 } } },
      right: [update(twice.repeated, { status: "Canceled" })],
      wrong: [[update(twice.neighbour, { status: "Canceled" })]],
    },
    {
      name: "reopen",
      prompt: `New papers came in for dispute ${changes.reopen.code}: open it again.`,
      changes: { disputes: { [changes.reopen.code]: { status: 0 } } },
      right: [update(changes.reopen, { status: "Open" })],
      wrong: [[addNote(changes.reopen, "Reopened: new papers came in.", "Internal")]],
    },
    {
      name: "close-several-below-limit",
      prompt: `Close all open disputes of Lockhart Farms about freight up to ${money(2500)} USD with a credit in full, each with the internal note "Below the limit".`,
      changes: {
        disputes: Object.fromEntries(several.map(({ code }) => [code, closed])),
        notes: several.map(({ code }) => ({
          dispute: code,
          includes: ["Below the limit"],
          visibility: "Internal",
        })),
      },
      right: [
        {
          name: "disputes_apply",
          arguments: {
            changes: several.map(({ code }) => ({
              disputeId: code,
              change: freight,
              note: "Below the limit",
            })),
          },
        },
      ],
      wrong: [small.filter((one) => one === aboveLimit).map((one) => update(one, freight))],
    },
  ];
};

const createOpening = ({ cast: { changes } }: World): Given => {
  const { billed } = changes;
  const body = {
    accountNumber: billed.account,
    documentNumber: billed.number,
    reasonCode: "SHORT-SHIP",
  };
  const open = (amount: number) => ({
    name: "disputes_create",
    arguments: { ...body, amount },
  });
  return {
    name: "open-dispute",
    prompt: `Lockhart Farms claims that 312.40 USD of goods were missing from invoice ${billed.number}. Open a dispute for it.`,
    changes: {
      opened: {
        documentNumber: billed.number,
        accountNumber: billed.account,
        amount: 312.4,
        currencyCode: "USD",
        reasonName: REASONS["SHORT-SHIP"]?.[1],
        status: 0,
      },
    },
    right: [open(312.4)],
    wrong: [[open(billed.original / 100)]],
  };
};

/** Changes to make: graded by the final state, and that nothing else changed. */
export const createChangeTasks = (world: World): Task[] =>
  [
    ...createAssignments(world),
    ...createNotes(world),
    ...createFields(world),
    ...createEndings(world),
    createOpening(world),
  ].map(toTask);
