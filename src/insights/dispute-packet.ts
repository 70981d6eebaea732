import { z } from "zod";
import { contract } from "../contract/index.ts";
import { DeadlineDays } from "../contract/insights/arguments.ts";
import { Precedents } from "../contract/insights/precedents.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Document } from "../contract/operations/documents.ts";
import { RecordNumber } from "../contract/fields.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { omitNulls } from "./brief.ts";
import { type Deadlines, describeDue, isDue, readDeadlines } from "./deadlines.ts";
import { describeDuplicate } from "./possible-duplicates.ts";
import { balanceOf } from "./documents.ts";
import { requireDispute } from "./find-dispute.ts";
import { defineInsight, type Fields, type InsightContext } from "./insight.ts";
import {
  type Others,
  readDocument,
  readOthers,
  readPayments,
  readResolutions,
  showDocument,
  type Shown,
  toDisputeBrief,
} from "./packet-parts.ts";
import { listSettling, readCredits, showCredits } from "./packet-credits.ts";
import { readFiles } from "./packet-files.ts";
import { createNames, readAccountNotes, readNotes } from "./packet-notes.ts";
import { describePrecedents, readPrecedents, showPrecedents } from "./packet-precedents.ts";
import { shortenPacket } from "./packet-shorten.ts";
import { type Part, showPart, type Unavailable, UnavailablePart } from "./read-part.ts";
import { toMoment } from "./standing.ts";
import { selectStanding } from "./standing-payments.ts";

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
    ...(part.value.status === "open" && isSame && balance !== null && dispute.amount > balance
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
  settledBy: readonly Fields[];
};

const describeSettling = ({ kind, paymentId, documentNumber, date }: Fields): string =>
  `${String(kind)} ${String(paymentId ?? documentNumber)} of ${String(date)} covers the disputed amount`;

/** Whether payments are known, and none of them stands. */
const isUnpaid = (payments: Shown): boolean =>
  Array.isArray(payments) && selectStanding(payments as readonly Fields[]).length === 0;

/** Lists the open points of a dispute that must be settled before a decision. */
const listMissing = (dispute: Dispute, parts: Parts): string[] => {
  if (dispute.status !== 0) return [];
  const { document, notes, files, payments, others, settledBy } = parts;
  return [
    ...(dispute.assigneeId === null ? ["no assignee"] : []),
    ...(isEmpty(files) ? ["no supporting file"] : []),
    ...(isEmpty(notes) ? ["no note about the findings"] : []),
    ...describeDocument(dispute, document),
    ...(isUnpaid(payments) ? ["no payment is applied to the document"] : []),
    ...settledBy.map(describeSettling),
    ...others.duplicates.map(describeDuplicate),
  ];
};

const describeUnavailable = (parts: Fields): string[] =>
  Object.entries(parts).flatMap(([name, shown]) =>
    isUnavailable(shown) ? [`${name}: ${shown.reason}`] : [],
  );

const read = (context: InsightContext, dispute: Dispute) => {
  const allNames = createNames(context);
  return Promise.all([
    readDocument(context, dispute),
    readNotes(context, dispute, allNames),
    readAccountNotes(context, dispute, allNames),
    readFiles(context, dispute),
    readPayments(context, dispute),
    readCredits(context, dispute),
    readOthers(context, dispute),
    readResolutions(context),
    readPrecedents(context, dispute),
  ]);
};

/** Days left and whether that is soon, where the dispute has a deadline. */
const showDeadline = (dispute: Dispute, { daysLeft }: Deadlines, ageDays: number): Fields => {
  const isOpen = dispute.status === 0;
  const left = daysLeft({ reasonId: dispute.reasonId, ageDays, isOpen });
  return left === undefined ? {} : { daysLeft: left, ...(isDue(left) ? { due: true } : {}) };
};

const gather = async (
  context: InsightContext,
  dispute: Dispute,
  deadlines: Deadlines,
): Promise<{ packet: Fields; limits: string[] }> => {
  const [document, notes, accountNotes, files, paid, credits, others, resolutions, precedents] =
    await read(context, dispute);
  const now = toMoment(undefined, context);
  const rows = paid.refused === undefined ? paid.value : [];
  const settledBy = listSettling(dispute, rows, {
    document,
    credits,
    calendar: context.calendar,
  });
  const payments = showPart(paid, (shown) => shown);
  const known = { document, payments, others, settledBy, notes: notes.shown, files: files.shown };
  const ageDays = context.calendar.countElapsedDays(Date.parse(dispute.createDate), now.at);
  const deadline = showDeadline(dispute, deadlines, ageDays);
  const left = deadline["daysLeft"];
  const due = deadline["due"] === true ? [describeDue(Number(left))] : [];
  const packet = {
    missing: [...due, ...listMissing(dispute, known)],
    dispute: { ...toDisputeBrief(dispute, now), ...deadline },
    document: showDocument(document, now),
    payments,
    creditNotes: showCredits(credits),
    ...(settledBy.length === 0 ? {} : { settledBy }),
    otherDisputes: others.shown,
    notesTotal: notes.total,
    notes: notes.shown,
    accountNotesTotal: accountNotes.total,
    accountNotes: accountNotes.shown,
    filesTotal: files.total,
    files: files.shown,
    ...showPrecedents(dispute, precedents),
    ...(dispute.status === 0 ? { resolutions: resolutions.shown } : {}),
  };
  const { unnamed } = notes;
  const limits = [
    ...(precedents.notes ?? []),
    ...describePrecedents(precedents),
    ...(paid.notes ?? []),
    ...(credits.notes ?? []),
    ...(dispute.status === 0 ? resolutions.notes : []),
    ...deadlines.notes,
  ];
  return {
    packet,
    limits: unnamed === undefined ? limits : [`authors of notes: ${unnamed}`, ...limits],
  };
};

const list = z.union([z.array(z.object({})), UnavailablePart]);

const PACKET_TOKENS = 3000;

/** Everything about one dispute. */
export const disputePacket = defineInsight({
  name: "dispute_packet",
  title: "Everything about one dispute",
  input: z.strictObject({
    disputeId: RecordNumber.meta({
      description: "disputeCode or disputeId",
      examples: ["D-4711-01"],
    }),
    deadlineDays: DeadlineDays.optional(),
  }),
  item: z.object({
    missing: z.array(z.string()),
    leftOut: z.array(z.string()),
    dispute: z.object({}),
    document: z.object({}),
    payments: list,
    creditNotes: list,
    settledBy: z.array(z.object({})),
    otherDisputes: z.object({}),
    notesTotal: z.int().nullable(),
    notes: list,
    accountNotesTotal: z.int().nullable(),
    accountNotes: list,
    filesTotal: z.int().nullable(),
    files: list,
    precedents: z.union([Precedents.omit({ proposal: true }).partial(), UnavailablePart]),
    proposal: Precedents.shape.proposal,
    resolutions: list,
  }),
  needs: [contract.disputes.get],
  tokens: PACKET_TOKENS,
  shorten: shortenPacket,
  async run(context, { disputeId, deadlineDays }) {
    const asOf = formatTimestamp(context.now());
    const dispute = await requireDispute(context, disputeId);
    const deadlines = await readDeadlines(context, deadlineDays);
    const { packet, limits } = await gather(context, dispute, deadlines);
    const { currencyCode, amount } = dispute;
    return {
      asOf,
      filter: omitNulls({ disputeId, deadlineDays }),
      rowCount: 1,
      truncated: false,
      currencyTotals: [{ currencyCode, count: 1, amount }],
      notes: [...describeUnavailable(packet), ...limits],
      itemsTotal: 1,
      items: [packet],
    };
  },
});
