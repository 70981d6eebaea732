import { z } from "zod";
import { lastFriday } from "../calendar.ts";
import type { Conversation, Question } from "../conversation.ts";
import { Amount, CurrencyTotals, formatCount, formatMoney, formatTotals } from "../wording.ts";

const DEADLINE_DAYS = 30;

const Changes = z.object({
  rowCount: z.int(),
  counts: z.record(z.string(), z.int()),
});

/** The kinds of changes in words. */
const KINDS: Record<string, string> = {
  opened: "disputes opened",
  changed: "disputes changed",
  reassigned: "reassigned",
  closed: "closed",
  canceled: "canceled",
  reopened: "reopened",
  deleted: "deleted",
  note: "notes",
  file: "files",
  payment: "payments on disputed documents",
  documentClosed: "disputed documents closed",
  documentReopened: "disputed documents reopened",
  creditSubmitted: "credit applications submitted",
  creditDecided: "credit applications decided",
  exportFailed: "exports failed",
};

const sinceFriday = (since: string): Question => ({
  question: "What has happened since Friday?",
  async answer(session) {
    const { rowCount, counts } = await session.call("changes_since", { since, limit: 1 }, Changes);
    const rows = Object.entries(KINDS).flatMap(([kind, words]): [string, number][] => {
      const count = counts[kind] ?? 0;
      return count === 0 ? [] : [[words, count]];
    });
    return [
      `${formatCount(rowCount, "change")}:`,
      { head: ["What", "Number"], numeric: [1], rows },
    ];
  },
});

const Closings = z.object({
  items: z.array(
    z.object({
      kind: z.string(),
      at: z.string(),
      by: z.string().optional(),
      disputeCode: z.string(),
      account: z.string(),
      amount: Amount,
      currencyCode: z.string(),
      detail: z.string().optional(),
    }),
  ),
});

const closedSinceFriday = (since: string): Question => ({
  question: "Which disputes were closed, and by whom?",
  async answer(session) {
    const args = { since, kinds: ["closed", "canceled"], limit: 10 };
    const { items } = await session.call("changes_since", args, Closings);
    return [
      {
        head: ["Dispute", "Customer", "Amount", "Closed", "By", "How"],
        numeric: [2],
        rows: items.map((item) => [
          item.disputeCode,
          item.account,
          formatMoney(item.amount, item.currencyCode),
          item.at.slice(0, 10),
          item.by ?? "",
          item.detail ?? item.kind,
        ]),
      },
    ];
  },
});

const Triage = z.object({
  rowCount: z.int(),
  currencyTotals: CurrencyTotals,
  flags: z.record(z.string(), z.int().nullable()),
  items: z.array(
    z.object({
      disputeCode: z.string(),
      accountName: z.string().optional(),
      accountNumber: z.string(),
      amount: Amount,
      currencyCode: z.string(),
      daysLeft: z.int().optional(),
      why: z.array(z.string()),
    }),
  ),
});

type Ranked = z.infer<typeof Triage>["items"];

/** Hands the ranked disputes to `keep`, for the questions that follow. */
const whatIsFirst = (keep: (items: Ranked) => void): Question => ({
  question: `We decide within ${DEADLINE_DAYS} days. Which open disputes come first?`,
  async answer(session) {
    const { rowCount, currencyTotals, flags, items } = await session.call(
      "disputes_triage",
      { deadlineDays: DEADLINE_DAYS, limit: 5 },
      Triage,
    );
    keep(items);
    return [
      `${formatCount(rowCount, "dispute")} are open, over ${formatTotals(currencyTotals)}: ${flags["due"] ?? 0} are due within a week or overdue, ${flags["unassigned"] ?? 0} are without an active assignee, ${flags["duplicate"] ?? 0} are possible duplicates, ${flags["stale"] ?? 0} had no activity for ten days. First:`,
      {
        head: ["Dispute", "Customer", "Amount", "Why"],
        numeric: [2],
        rows: items.map(({ disputeCode, accountName, accountNumber, why, ...item }) => [
          disputeCode,
          accountName ?? accountNumber,
          formatMoney(item.amount, item.currencyCode),
          why.slice(0, 3).join("; "),
        ]),
      },
    ];
  },
});

const Counted = <T extends z.ZodType>(value: T) => z.object({ value, cases: z.int(), of: z.int() });

const Precedents = z.object({
  cases: z.int(),
  valid: z.int().optional(),
  canceled: z.int().optional(),
  medianDaysToClose: z.number().optional(),
  resolutions: z
    .array(z.object({ resolutionCode: z.string().nullable(), count: z.int() }))
    .optional(),
});

const Proposal = z.object({
  resolutionCode: Counted(z.string()).optional(),
  isValid: Counted(z.boolean()).optional(),
  assigneeEmail: Counted(z.string()).optional(),
});

const Packet = z.object({
  items: z.array(
    z.object({
      dispute: z.object({
        disputeCode: z.string(),
        accountName: z.string().optional(),
        documentNumber: z.string(),
        amount: Amount,
        currencyCode: z.string(),
        reasonName: z.string(),
        createDate: z.string(),
      }),
      document: z.looseObject({ status: z.string(), balance: Amount }),
      notes: z.array(z.object({ time: z.string(), text: z.string() })),
      precedents: z.object({ account: Precedents, tenant: Precedents }),
      proposal: Proposal.optional(),
    }),
  ),
});

type DisputePacket = z.infer<typeof Packet>["items"][number];

const describeOutcomes = ({ cases, resolutions = [] }: z.infer<typeof Precedents>): string =>
  cases === 0
    ? "none"
    : `${cases} (${resolutions
        .map(({ resolutionCode, count }) => `${resolutionCode ?? "canceled"} ${count}`)
        .join(", ")})`;

const describeProposal = ({ proposal }: DisputePacket): string => {
  const parts = Object.entries(proposal ?? {}).flatMap(([name, counted]) =>
    counted === undefined ? [] : [`${name} ${counted.value} (${counted.cases} of ${counted.of})`],
  );
  return parts.length === 0 ? "Nothing is proposed." : `Proposed: ${parts.join(", ")}.`;
};

const describePacket = (packet: DisputePacket) => {
  const { dispute, document, notes, precedents } = packet;
  return [
    `${dispute.accountName ?? ""} disputes ${formatMoney(dispute.amount, dispute.currencyCode)} of document ${dispute.documentNumber} (${dispute.reasonName.toLowerCase()}) since ${dispute.createDate}; the document is ${document.status} with a balance of ${formatMoney(document.balance, dispute.currencyCode)}.`,
    ...notes.slice(0, 2).map(({ time, text }) => `Note of ${time.slice(0, 10)}: “${text}”`),
    `Earlier disputes with this reason: of the customer ${describeOutcomes(precedents.account)}; of all ${describeOutcomes(precedents.tenant)}. ${describeProposal(packet)}`,
  ];
};

const Applied = z.object({
  results: z.array(z.looseObject({ disputeCode: z.string(), outcome: z.string() })),
});

/** Reads and decides the first dispute that is no possible duplicate: those need a comparison first. */
const decideOne = (findRanked: () => Ranked): Question[] => {
  let packet: DisputePacket | undefined;
  return [
    {
      question:
        "What do we know about the first one that is no duplicate, and how did such cases end?",
      async answer(session) {
        const first = findRanked().find(({ why }) => !why.join().includes("duplicate"));
        if (first === undefined) throw new Error("Each dispute is a possible duplicate.");
        const args = { disputeId: first.disputeCode, deadlineDays: DEADLINE_DAYS };
        const { items } = await session.call("dispute_packet", args, Packet);
        [packet] = items;
        return packet === undefined ? [] : describePacket(packet);
      },
    },
    {
      question: "The photos settle it. Close it as proposed, with a note that says why.",
      async answer(session) {
        if (packet?.proposal === undefined) throw new Error("The dispute has no proposal.");
        const { resolutionCode, isValid } = packet.proposal;
        const change = {
          status: "Closed",
          resolutionCode: resolutionCode?.value,
          isValid: isValid?.value,
        };
        const note = "The photos show the damage; credited as in earlier cases.";
        const { disputeCode } = packet.dispute;
        const changes = [{ disputeId: disputeCode, change, note }];
        const { results } = await session.call("disputes_apply", { changes }, Applied);
        return results.map((one) => `${one.disputeCode}: ${one.outcome}.`);
      },
    },
  ];
};

/** The first quarter of an hour of a week, on the day of `now`. */
export const createMonday = (now: Date): Conversation => {
  const since = lastFriday(now);
  let ranked: Ranked = [];
  const keep = (items: Ranked): void => {
    ranked = items;
  };
  return {
    title: "A Monday morning",
    questions: [
      sinceFriday(since),
      closedSinceFriday(since),
      whatIsFirst(keep),
      ...decideOne(() => ranked),
    ],
  };
};
