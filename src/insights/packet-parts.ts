import { contract } from "../contract/index.ts";
import { countElapsedDays } from "../contract/insights/calendar.ts";
import { DISPUTE_STATUSES } from "../contract/insights/dispute-filters.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { DocumentWithClosing } from "../contract/operations/documents.ts";
import { cutText, toDay, withoutNulls } from "./brief.ts";
import { askClosure } from "./document-reader.ts";
import { toDocumentBrief } from "./documents.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { type Part, readPart, showPart, toUnavailable, type Unavailable } from "./read-part.ts";
import { disputeFileUri } from "./record-uris.ts";

const { dispute_notes, dispute_attachments, documents, payments, resolutions, disputes } = contract;

const NOTES = 10;
const NOTE_CHARACTERS = 400;
const FILES = 20;
const FILE_WARNINGS = 3;
const PAYMENT_ROWS = 20;
const OTHERS_READ = 200;
const OPEN = 0;
const OTHERS = 5;
const RESOLUTIONS = 20;

/** A part of the packet, or why the platform does not give it. */
export type Shown = Fields | readonly Fields[] | Unavailable;

export const toDisputeBrief = (dispute: Dispute, now: number): Fields =>
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
    createDate: toDay(dispute.createDate),
    ageDays: dispute.status === 0 ? countElapsedDays(Date.parse(dispute.createDate), now) : null,
    updateDate: toDay(dispute.updateDate),
    closedDate: toDay(dispute.closedDate),
  });

export const readNotes = async (
  context: InsightContext,
  { disputeId }: Dispute,
): Promise<{ notes: Shown; notesTotal: number | null }> => {
  const args = { disputeId, Sort: "-CreateDate", Page: 1, PageSize: NOTES };
  const part = await readPart(context, dispute_notes.list, args);
  const notes = showPart(part, (list) =>
    list
      .toSorted((a, b) => Date.parse(b.createDate) - Date.parse(a.createDate))
      .slice(0, NOTES)
      .map(({ createDate, createUser, visibility, content }) =>
        withoutNulls({
          date: toDay(createDate),
          by: createUser,
          visibility,
          text: cutText(content, NOTE_CHARACTERS),
        }),
      ),
  );
  if (part.refused !== undefined) return { notes, notesTotal: null };
  return { notes, notesTotal: part.reply?.total ?? part.value.length };
};

const fileType = (name: string): string => name.split(".").at(-1)?.toLowerCase() ?? "";

export const readFiles = async (
  context: InsightContext,
  { disputeId }: Dispute,
): Promise<Shown> => {
  const part = await readPart(context, dispute_attachments.list, { disputeId });
  return showPart(part, (list) =>
    list.slice(0, FILES).map(({ attachmentId, fileName, status, warnings = [] }) => ({
      fileName,
      type: fileType(fileName),
      status,
      ...(warnings.length === 0 ? {} : { warnings: warnings.slice(0, FILE_WARNINGS) }),
      resource: disputeFileUri(disputeId, attachmentId),
    })),
  );
};

export const readDocument = (
  context: InsightContext,
  { documentNumber }: Dispute,
): Promise<Part<DocumentWithClosing>> =>
  readPart(context, documents.get, { document_number: documentNumber, ...askClosure(context) });

export const showDocument = (part: Part<DocumentWithClosing>, now: number): Shown =>
  showPart(part, (document) =>
    withoutNulls({ ...toDocumentBrief(document, now), closedOn: toDay(document.closedAt) }),
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
];

export const readPayments = async (
  context: InsightContext,
  { documentNumber }: Dispute,
): Promise<Shown> => {
  const part = await readPart(context, payments.query, {
    source: "cashapp",
    fields: PAYMENT_FIELDS,
    filters: { documentNumber: { eq: documentNumber } },
    limit: PAYMENT_ROWS,
  });
  return showPart(part, ({ data }) => data.map(withoutNulls));
};

const isOpen = ({ status }: Dispute): boolean => status === OPEN;

export type Others = { shown: Shown; duplicates: readonly string[] };

const toOtherBrief = (one: Dispute): Fields =>
  withoutNulls({
    disputeCode: one.disputeCode,
    documentNumber: one.documentNumber,
    status: isOpen(one) ? null : DISPUTE_STATUSES[one.status],
    resolutionCode: one.resolutionCode,
    amount: one.amount,
    currencyCode: one.currencyCode,
    reasonName: one.reasonName,
    createDate: toDay(one.createDate),
  });

const refuseOthers = (refusal: Unavailable): Others => ({
  shown: toUnavailable(refusal),
  duplicates: [],
});

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
  return {
    duplicates: openOnes
      .filter((one) => one.amount === amount && one.currencyCode === currencyCode)
      .map(({ disputeCode }) => disputeCode),
    shown: {
      openOnAccount: isOpen(dispute) ? total - 1 : total,
      openOnDocument: openOnes.length,
      endedOnDocument: ended.length,
      largest: [...openOnes, ...ended, ...rest].slice(0, OTHERS).map(toOtherBrief),
    },
  };
};

export const readResolutions = async (context: InsightContext): Promise<Shown> => {
  const part = await readPart(context, resolutions.list, {});
  return showPart(part, (list) =>
    list
      .filter(({ active }) => active)
      .slice(0, RESOLUTIONS)
      .map(({ code, description, isValid }) => ({ code, description, isValid })),
  );
};
