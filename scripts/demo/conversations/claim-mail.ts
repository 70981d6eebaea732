import { z } from "zod";
import type { Conversation, Question } from "../conversation.ts";
import { Amount, formatCount, formatMoney } from "../wording.ts";

const MAIL = `Hello, please credit us for the following, Kilbride Engineering:
- invoice 5175739: 18,344.59 EUR, damaged in transit
- your PO P60724: 420.00 EUR, short shipped
- 5230545: 52.91 EUR, cash discount
- 5299999: 75.00 EUR, pricing`;

const customer = "Kilbride Engineering";

/** The lines of the mail, as an assistant reads them. */
const LINES = [
  { reference: "5175739", amount: 18344.59, reason: "damaged in transit" },
  { reference: "P60724", amount: 420, reason: "short shipped" },
  { reference: "5230545", amount: 52.91, reason: "cash discount" },
  { reference: "5299999", amount: 75, reason: "pricing" },
].map((line) => ({ ...line, currencyCode: "EUR", customer }));

const Matched = z.object({
  items: z.array(
    z.object({
      line: z.int(),
      reference: z.string(),
      document: z
        .object({
          documentNumber: z.string(),
          accountNumber: z.string(),
          status: z.string(),
          currencyCode: z.string(),
          balance: Amount,
        })
        .optional(),
      reason: z.object({ reasonCode: z.string() }).optional(),
      payment: z
        .object({ match: z.string(), paymentId: z.string(), paymentDate: z.string() })
        .optional(),
      doubts: z.array(z.string()),
    }),
  ),
});

type Match = z.infer<typeof Matched>["items"][number];

/** Returns the lines that can be opened: a document is meant, and no open dispute claims the same. */
const toClaims = (matches: readonly Match[]) =>
  matches.flatMap(({ line, document, reason, payment, doubts }) => {
    const written = LINES[line - 1];
    const isDisputed = doubts.some((doubt) => doubt.startsWith("already disputed"));
    if (document === undefined || written === undefined || isDisputed) return [];
    return [
      {
        accountNumber: document.accountNumber,
        documentNumber: document.documentNumber,
        amount: written.amount,
        reasonCode: reason?.reasonCode,
        paymentId: payment?.paymentId,
        note: `Claimed by mail: ${written.reason}.`,
      },
    ];
  });

const Opened = z.object({
  opened: z.int(),
  openedBefore: z.int(),
  refused: z.int(),
  results: z.array(
    z.object({
      disputeCode: z.string(),
      outcome: z.string(),
      dispute: z
        .object({
          amount: Amount,
          currencyCode: z.string(),
          reasonName: z.string(),
          assigneeName: z.string().optional(),
        })
        .optional(),
    }),
  ),
});

/** From the pasted mail to open disputes; each question uses what the former one found. */
const takeIn = (): Question[] => {
  let matches: readonly Match[] = [];
  return [
    {
      question: "A customer writes this. What does each line mean?",
      pasted: MAIL,
      async answer(session) {
        const { items } = await session.call("match_claims", { lines: LINES }, Matched);
        matches = items;
        return [
          {
            head: ["Line", "Document", "Balance", "Payment that left it out", "Reason", "Doubts"],
            numeric: [2],
            rows: items.map(({ reference, document, payment, reason, doubts }) => [
              reference,
              document === undefined ? "" : `${document.documentNumber}, ${document.status}`,
              document === undefined ? "" : formatMoney(document.balance, document.currencyCode),
              payment === undefined
                ? ""
                : `${payment.paymentId} of ${payment.paymentDate}, ${payment.match}`,
              reason?.reasonCode ?? "",
              doubts.join("; "),
            ]),
          },
        ];
      },
    },
    {
      question: "Open what is meant clearly and not disputed yet.",
      async answer(session) {
        const claims = toClaims(matches);
        const { opened, results } = await session.call("disputes_open", { claims }, Opened);
        return [
          `${formatCount(opened, "dispute")} opened, each with the customer's words as a note:`,
          {
            head: ["Dispute", "Amount", "Reason", "Assignee"],
            numeric: [1],
            rows: results.map(({ disputeCode, dispute }) => [
              disputeCode,
              formatMoney(dispute?.amount ?? 0, dispute?.currencyCode),
              dispute?.reasonName ?? "",
              dispute?.assigneeName ?? "",
            ]),
          },
        ];
      },
    },
    {
      question: "The same mail came a second time. Take it in again.",
      async answer(session) {
        const { items } = await session.call("match_claims", { lines: LINES }, Matched);
        const doubts = items.map(({ reference, doubts: found }) => [reference, found.join("; ")]);
        return [
          `${formatCount(toClaims(items).length, "line")} left to open:`,
          { head: ["Line", "Doubts"], rows: doubts },
        ];
      },
    },
  ];
};

export const createClaimMail = (): Conversation => ({
  title: "A claim mail",
  questions: takeIn(),
});
