import { contract } from "../contract/index.ts";
import { DISPUTE_STATUSES } from "../contract/insights/dispute-filters.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { DocumentWithClosing } from "../contract/operations/documents.ts";
import { toTenantDay, withoutNulls } from "./brief.ts";
import { askClosure } from "./document-reader.ts";
import { toBilling, toDocumentBrief } from "./documents.ts";
import type { Fields, InsightContext } from "./insight.ts";
import {
  attemptPart,
  type Part,
  readPart,
  showPart,
  toUnavailable,
  type Unavailable,
} from "./read-part.ts";
import { compareDuplicates, type PossibleDuplicate } from "./possible-duplicates.ts";
import type { Moment } from "./standing.ts";

const { dispute_attachments, documents, payments, resolutions, disputes } = contract;

const PAYMENT_ROWS = 20;
const OTHERS_READ = 200;
const OPEN = 0;
const OTHERS = 5;
const RESOLUTIONS = 20;

/** A part of the packet, or why the platform does not give it. */
export type Shown = Fields | readonly Fields[] | Unavailable;

export const toDisputeBrief = (dispute: Dispute, { at, calendar }: Moment): Fields =>
  withoutNulls({
    disputeId: dispute.disputeId,
    disputeCode: dispute.disputeCode,
    status: DISPUTE_STATUSES[dispute.status],
    amount: dispute.amount,
    currencyCode: dispute.currencyCode,
    isValid: dispute.status === 0 ? null : dispute.isValid,
    reasonName: dispute.reasonName,
    externalReasonName: dispute.externalReasonName,
    categoryName: dispute.categoryName,
    assigneeName: dispute.assigneeName,
    departmentName: dispute.departmentName,
    accountNumber: dispute.accountNumber,
    accountName: dispute.accountName,
    documentNumber: dispute.documentNumber,
    poNumber: dispute.poNumber,
    resolutionCode: dispute.resolutionCode,
    createDate: toTenantDay(calendar, dispute.createDate),
    ageDays:
      dispute.status === 0 ? calendar.countElapsedDays(Date.parse(dispute.createDate), at) : null,
    updateDate: toTenantDay(calendar, dispute.updateDate),
    closedDate: toTenantDay(calendar, dispute.closedDate),
  });

export const readDocument = (
  context: InsightContext,
  { documentNumber }: Dispute,
): Promise<Part<DocumentWithClosing>> =>
  readPart(context, documents.get, { document_number: documentNumber, ...askClosure(context) });

export const showDocument = (part: Part<DocumentWithClosing>, asOf: Moment): Shown =>
  showPart(part, (document) =>
    withoutNulls({
      ...toDocumentBrief(document, asOf),
      ...toBilling(document),
    }),
  );

const PAYMENT_FIELDS = [
  "paymentId",
  "paymentDate",
  "paymentMethod",
  "currencyCode",
  "appliedAmount",
  "invoiceAmount",
  "deductionAmount",
  "deductionReasonCode",
  "shortPay",
  "applicationStatus",
  "matchMethod",
];

/** Shows a row; how it was matched only where nothing has confirmed it. */
const toPayment = ({ matchMethod, ...row }: Fields): Fields =>
  withoutNulls(matchMethod === "suggested" ? { ...row, matchMethod } : row);

const MORE_PAYMENTS = `payments: only ${PAYMENT_ROWS} rows of the document are shown, first those since the dispute was opened; payments_query lists all`;

/** Reads the payments on a document; where there are many, also those since the dispute was opened. */
export const readPayments = async (
  context: InsightContext,
  { documentNumber, createDate }: Dispute,
): Promise<Part<Fields[]> & { notes?: readonly string[] }> => {
  const query = {
    source: "cashapp" as const,
    fields: PAYMENT_FIELDS,
    filters: { documentNumber: { eq: documentNumber } },
    limit: PAYMENT_ROWS,
  };
  let isCut = false;
  const part = await attemptPart(context, payments.query, async () => {
    const { data, pagination } = (await context.call(payments.query, query)).output;
    if (!pagination.hasMore) return data.map(toPayment);
    isCut = true;
    const paymentDate = { gte: context.calendar.toDay(createDate) };
    const filters = { ...query.filters, paymentDate };
    const { output: later } = await context.call(payments.query, { ...query, filters });
    const rows = [...later.data, ...data].slice(0, PAYMENT_ROWS).map(toPayment);
    return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
  });
  return isCut ? { ...part, notes: [MORE_PAYMENTS] } : part;
};

const isOpen = ({ status }: Dispute): boolean => status === OPEN;

export type Others = { shown: Shown; duplicates: readonly PossibleDuplicate[] };

const toOtherBrief = (one: Dispute, { calendar }: InsightContext): Fields =>
  withoutNulls({
    disputeCode: one.disputeCode,
    documentNumber: one.documentNumber,
    status: isOpen(one) ? null : DISPUTE_STATUSES[one.status],
    resolutionCode: one.resolutionCode,
    amount: one.amount,
    currencyCode: one.currencyCode,
    reasonName: one.reasonName,
    createDate: toTenantDay(calendar, one.createDate),
  });

const refuseOthers = (refusal: Unavailable): Others => ({
  shown: toUnavailable(refusal),
  duplicates: [],
});

/** The possible duplicates that a packet compares; more of one claim tell nothing new. */
const COMPARED = 3;

/** Names the files of a dispute; undefined if they cannot be read. */
const listFiles = async (
  context: InsightContext,
  { disputeId }: Dispute,
): Promise<string[] | undefined> => {
  const part = await readPart(context, dispute_attachments.list, { disputeId });
  return part.refused === undefined ? part.value.map(({ fileName }) => fileName) : undefined;
};

const readDuplicates = async (
  context: InsightContext,
  dispute: Dispute,
  others: readonly Dispute[],
): Promise<PossibleDuplicate[]> => {
  if (others.length === 0) return [];
  const withFiles = async (one: Dispute) => ({ ...one, files: await listFiles(context, one) });
  const [own, ...rest] = await Promise.all(
    [dispute, ...others.slice(0, COMPARED)].map((one) => withFiles(one)),
  );
  return own === undefined ? [] : rest.map((one) => compareDuplicates(own, one));
};

/** Other disputes: first those on the document, open ones before ended ones, then open ones of the account. */
export const readOthers = async (context: InsightContext, dispute: Dispute): Promise<Others> => {
  const { accountNumber, documentNumber, disputeId, amount, currencyCode } = dispute;
  const page = { Page: 1, PageSize: OTHERS_READ };
  const [onAccount, onDocument] = await Promise.all([
    readPart(context, disputes.list, {
      AccountNumber: accountNumber,
      Status: [OPEN],
      Sort: "-Amount",
      ...page,
    }),
    readPart(context, disputes.list, { DocumentNumber: documentNumber, ...page }),
  ]);
  if (onAccount.refused !== undefined) return refuseOthers(onAccount.refused);
  if (onDocument.refused !== undefined) return refuseOthers(onDocument.refused);
  const isOther = (one: Dispute): boolean => one.disputeId !== disputeId;
  const same = onDocument.value.filter(isOther);
  const openOnes = same.filter(isOpen);
  const ended = same.filter((one) => !isOpen(one));
  const rest = onAccount.value.filter((one) => one.documentNumber !== documentNumber);
  const total = onAccount.reply?.total ?? onAccount.value.length;
  const duplicates = await readDuplicates(
    context,
    dispute,
    openOnes.filter((one) => one.amount === amount && one.currencyCode === currencyCode),
  );
  return {
    duplicates,
    shown: {
      ...(duplicates.length === 0 ? {} : { possibleDuplicates: duplicates }),
      openOnAccount: isOpen(dispute) ? total - 1 : total,
      openOnDocument: openOnes.length,
      endedOnDocument: ended.length,
      largest: [...openOnes, ...ended, ...rest]
        .slice(0, OTHERS)
        .map((one) => toOtherBrief(one, context)),
    },
  };
};

/** Reads the active resolutions, and says how many of them are not shown. */
export const readResolutions = async (
  context: InsightContext,
): Promise<{ shown: Shown; notes: readonly string[] }> => {
  const part = await readPart(context, resolutions.list, {});
  const active = part.refused === undefined ? part.value.filter((one) => one.active) : [];
  return {
    shown: showPart(part, () =>
      active
        .slice(0, RESOLUTIONS)
        .map(({ code, description, isValid }) => ({ code, description, isValid })),
    ),
    notes:
      active.length > RESOLUTIONS
        ? [`resolutions: ${RESOLUTIONS} of ${active.length} are shown; resolutions_list lists all`]
        : [],
  };
};
