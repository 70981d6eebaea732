import { z } from "zod";
import type { Conversation, Question } from "../conversation.ts";
import type { Session } from "../session.ts";
import { Amount, CurrencyTotals, formatCount, formatMoney, formatTotals } from "../wording.ts";

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
      ageDays: z.int(),
      why: z.array(z.string()),
    }),
  ),
});

type Ranked = z.infer<typeof Triage>["items"];

/** Hands the ranked disputes to `keep`, for the questions that follow. */
const askWhatIsFirst = (keep: (items: Ranked) => void): Question => ({
  question: "Which open disputes should I work on first?",
  async answer(session) {
    const { rowCount, currencyTotals, flags, items } = await session.call(
      "disputes_triage",
      { limit: 5 },
      Triage,
    );
    keep(items);
    return [
      `${formatCount(rowCount, "dispute")} are open, over ${formatTotals(currencyTotals)}: ${flags["unassigned"] ?? 0} without an active assignee, ${flags["duplicate"] ?? 0} possible duplicates, ${flags["documentClosed"] ?? 0} on closed documents, ${flags["stale"] ?? 0} without activity for ten days. First:`,
      {
        head: ["Dispute", "Account", "Amount", "Why"],
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

const Workload = z.object({
  rowCount: z.int(),
  currencyTotals: CurrencyTotals,
  items: z.array(
    z.object({
      key: z.object({ assignee: z.string().nullable() }),
      currencyCode: z.string().nullable(),
      count: z.int(),
      amount: Amount,
      oldest: z.object({ disputeCode: z.string(), createDate: z.string() }).nullable(),
    }),
  ),
});

const olderThanThirtyDays: Question = {
  question: "Which open disputes are older than 30 days, and who has them?",
  async answer(session) {
    const { rowCount, currencyTotals, items } = await session.call(
      "disputes_summary",
      { status: "Open", olderThanDays: 30, groupBy: ["assignee"], orderBy: "count", limit: 10 },
      Workload,
    );
    return [
      `${formatCount(rowCount, "dispute")}, over ${formatTotals(currencyTotals)}:`,
      {
        head: ["Assignee", "Disputes", "Amount", "Oldest"],
        numeric: [1, 2],
        rows: items.map(({ key, count, amount, currencyCode, oldest }) => [
          key.assignee ?? "no assignee",
          count,
          formatMoney(amount, currencyCode),
          oldest?.disputeCode ?? "",
        ]),
      },
    ];
  },
};

const Claim = z.object({
  disputeCode: z.string(),
  documentNumber: z.string(),
  amount: Amount,
  currencyCode: z.string(),
  reasonName: z.string(),
  createDate: z.string(),
});

const Packet = z.object({
  items: z.array(
    z.object({
      dispute: Claim.extend({ accountName: z.string().optional() }),
      document: z.looseObject({ status: z.string(), balance: Amount }),
      otherDisputes: z.object({ largest: z.array(Claim) }),
      notes: z.array(z.object({ time: z.string(), text: z.string() })),
      resolutions: z.array(z.object({ code: z.string(), description: z.string() })),
    }),
  ),
});

type DisputePacket = z.infer<typeof Packet>["items"][number];

const SAME_CLAIM = "same document and amount";

/** Reads everything about the first dispute that may be the same claim as another one. */
const readDuplicate = async (session: Session, ranked: Ranked): Promise<DisputePacket> => {
  const found = ranked.find(({ why }) => why.some((part) => part.startsWith(SAME_CLAIM)));
  if (found === undefined) throw new Error("The triage lists no possible duplicate.");
  const { disputeCode } = found;
  const { items } = await session.call("dispute_packet", { disputeId: disputeCode }, Packet);
  const [packet] = items;
  if (packet === undefined) throw new Error(`${disputeCode} has no packet.`);
  return packet;
};

/** Orders the dispute and the other one of the same document and amount by their creation. */
const orderClaims = ({ dispute, otherDisputes }: DisputePacket) => {
  const other = otherDisputes.largest.find(
    ({ documentNumber, amount }) =>
      documentNumber === dispute.documentNumber && amount === dispute.amount,
  );
  if (other === undefined) throw new Error(`${dispute.disputeCode} has no duplicate.`);
  return dispute.createDate < other.createDate
    ? { earlier: dispute, later: other }
    : { earlier: other, later: dispute };
};

const Closed = z.looseObject({ disputeCode: z.string(), resolutionCode: z.string() });

/** From the ranked disputes to the end of one of them; each question uses what the former one found. */
const listQuestions = (): Question[] => {
  let ranked: Ranked = [];
  let packet: DisputePacket | undefined;
  return [
    askWhatIsFirst((items) => {
      ranked = items;
    }),
    olderThanThirtyDays,
    {
      question: "The first one may be a duplicate. What do we know about it?",
      async answer(session) {
        packet = await readDuplicate(session, ranked);
        const { dispute, document, notes } = packet;
        const { earlier, later } = orderClaims(packet);
        return [
          `${dispute.accountName ?? ""} deducted ${formatMoney(dispute.amount, dispute.currencyCode)} from document ${dispute.documentNumber} (${dispute.reasonName.toLowerCase()}), which is ${document.status} with a balance of ${formatMoney(document.balance, dispute.currencyCode)}. ${earlier.disputeCode} was opened on ${earlier.createDate}, ${later.disputeCode} over the same amount on ${later.createDate}.`,
          ...notes.slice(0, 2).map(({ time, text }) => `Note of ${time.slice(0, 10)}: “${text}”`),
        ];
      },
    },
    {
      question: "It is the same claim. Close the later one as a duplicate, and say so in a note.",
      async answer(session) {
        if (packet === undefined) throw new Error("There is no duplicate to close.");
        const { earlier, later } = orderClaims(packet);
        const disputeId = later.disputeCode;
        const resolution = packet.resolutions.find(({ code }) => code === "DUPLICATE");
        if (resolution === undefined) throw new Error("There is no resolution for duplicates.");
        const content = `The same claim as ${earlier.disputeCode}, which stays open.`;
        await session.call("dispute_notes_create", { disputeId, content }, z.looseObject({}));
        const closed = await session.call(
          "disputes_update",
          { disputeId, status: "Closed", resolutionCode: resolution.code },
          Closed,
        );
        return [`${closed.disputeCode} is closed with the resolution ${closed.resolutionCode}.`];
      },
    },
  ];
};

export const createTriage = (): Conversation => ({
  title: "Dispute triage",
  questions: listQuestions(),
});
