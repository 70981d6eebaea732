import { z } from "zod";
import { contract } from "../contract/index.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Document } from "../contract/operations/documents.ts";
import { RecordNumber } from "../contract/fields.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { balanceOf } from "./documents.ts";
import { requireDispute } from "./find-dispute.ts";
import { defineInsight, type Fields, type InsightContext } from "./insight.ts";
import {
  type Others,
  readDocument,
  readFiles,
  readNotes,
  readOthers,
  readPayments,
  readResolutions,
  showDocument,
  type Shown,
  toDisputeBrief,
} from "./packet-parts.ts";
import { type Part, type Unavailable, UnavailablePart } from "./read-part.ts";

const isEmpty = (shown: Shown): boolean => Array.isArray(shown) && shown.length === 0;

const isUnavailable = (shown: unknown): shown is Unavailable =>
  typeof shown === "object" && shown !== null && "available" in shown && shown.available === false;

const describeDocument = (dispute: Dispute, part: Part<Document>): string[] => {
  if (part.refused !== undefined) {
    return part.refused.isAbsent ? ["the platform does not have the document"] : [];
  }
  const { amount: balance, currencyCode } = balanceOf(part.value);
  const isSame = currencyCode === null || currencyCode === dispute.currencyCode;
  return [
    ...(part.value.status === "closed" ? ["the document is closed already"] : []),
    ...(isSame && balance !== null && dispute.amount > balance
      ? ["the disputed amount is larger than the document's balance"]
      : []),
  ];
};

type Parts = {
  document: Part<Document>;
  notes: Shown;
  files: Shown;
  payments: Shown;
  others: Others;
};

/** Lists the open points of a dispute that must be settled before a decision. */
const listMissing = (dispute: Dispute, parts: Parts): string[] => {
  if (dispute.status !== 0) return [];
  const { document, notes, files, payments, others } = parts;
  return [
    ...(dispute.assigneeId === null ? ["no assignee"] : []),
    ...(isEmpty(files) ? ["no supporting file"] : []),
    ...(isEmpty(notes) ? ["no note about the findings"] : []),
    ...describeDocument(dispute, document),
    ...(isEmpty(payments) ? ["no payment is applied to the document"] : []),
    ...others.duplicates.map((code) => `${code} has the same document and amount`),
  ];
};

const describeUnavailable = (parts: Fields): string[] =>
  Object.entries(parts).flatMap(([name, shown]) =>
    isUnavailable(shown) ? [`${name}: ${shown.reason}`] : [],
  );

const gather = async (context: InsightContext, dispute: Dispute): Promise<Fields> => {
  const [document, { notes, notesTotal }, files, payments, others, resolutions] = await Promise.all(
    [
      readDocument(context, dispute),
      readNotes(context, dispute),
      readFiles(context, dispute),
      readPayments(context, dispute),
      readOthers(context, dispute),
      readResolutions(context),
    ],
  );
  const now = context.now();
  return {
    missing: listMissing(dispute, { document, notes, files, payments, others }),
    dispute: toDisputeBrief(dispute, now),
    document: showDocument(document, now),
    payments,
    otherDisputes: others.shown,
    notesTotal,
    notes,
    files,
    ...(dispute.status === 0 ? { resolutions } : {}),
  };
};

const list = z.union([z.array(z.object({})), UnavailablePart]);

/** Everything about one dispute. */
export const disputePacket = defineInsight({
  name: "dispute_packet",
  title: "Everything about one dispute",
  input: z.strictObject({
    disputeId: RecordNumber.meta({
      description: "disputeCode or disputeId",
      examples: ["D-4711-01"],
    }),
  }),
  item: z.object({
    missing: z.array(z.string()),
    dispute: z.object({}),
    document: z.object({}),
    payments: list,
    otherDisputes: z.object({}),
    notesTotal: z.int().nullable(),
    notes: list,
    files: list,
    resolutions: list,
  }),
  needs: [contract.disputes.get],
  async run(context, { disputeId }) {
    const asOf = formatTimestamp(context.now());
    const dispute = await requireDispute(context, disputeId);
    const packet = await gather(context, dispute);
    const { currencyCode, amount } = dispute;
    return {
      asOf,
      filter: { disputeId },
      rowCount: 1,
      truncated: false,
      currencyTotals: [{ currencyCode, count: 1, amount }],
      notes: describeUnavailable(packet),
      itemsTotal: 1,
      items: [packet],
    };
  },
});
