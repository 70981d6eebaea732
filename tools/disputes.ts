import { contract } from "../src/contract/index.ts";
import { describeDispute, formatName, quote } from "./formatting.ts";
import { disputeEnding } from "./dispute-change.ts";
import {
  applyChanges,
  bulkConfirmation,
  downloadFile,
  openClaims,
  uploadFile,
} from "./dispute-operations.ts";
import { type Confirmation, defineTool, type Filling, type Remark } from "./tool.ts";

const { disputes: d, dispute_notes: notes, dispute_attachments: files } = contract;

const unknownRecords: readonly Remark[] = [
  {
    operation: contract.documents.get,
    args: ({ documentNumber }) => ({ document_number: documentNumber }),
    text: ({ documentNumber }) => `The platform has no document ${formatName(documentNumber)}.`,
  },
  {
    operation: contract.accounts.get,
    args: ({ accountNumber }) => ({ account_number: accountNumber }),
    text: ({ accountNumber }) => `The platform has no account ${formatName(accountNumber)}.`,
  },
];

const documentPo: Filling = {
  argument: "poNumber",
  operation: contract.documents.get,
  args: ({ documentNumber }) => ({ document_number: documentNumber }),
  value: ({ po_number }) => po_number,
};

const disputeDeletion: Confirmation = {
  reads: { dispute: d.get },
  question: ({ disputeId }, { dispute }) =>
    `Delete dispute ${describeDispute(dispute, disputeId)} with all its notes and files? This cannot be undone.`,
};

const noteDeletion: Confirmation = {
  reads: { note: notes.get, dispute: d.get },
  question({ noteId, disputeId }, { note, dispute }) {
    const which = note === undefined ? quote(noteId) : quote(note["content"]);
    return `Delete note ${which} of dispute ${describeDispute(dispute, disputeId)}? This cannot be undone.`;
  },
};

const fileDeletion: Confirmation = {
  reads: { file: files.get, dispute: d.get },
  question({ attachmentId, disputeId }, { file, dispute }) {
    const which = file === undefined ? quote(attachmentId) : formatName(file["fileName"]);
    return `Delete file ${which} of dispute ${describeDispute(dispute, disputeId)}? This cannot be undone.`;
  },
};

export const disputes = [
  defineTool(d.get),
  defineTool(
    d.list,
    "List disputes, newest first, by status, account, document, assignee, reason or category.",
  ),
  defineTool(
    d.create,
    "Open a dispute on a document of an account. Requires a reason id or code. Without poNumber it has that of the document.",
    { title: "Open dispute", fills: [documentPo], remarks: unknownRecords },
  ),
  defineTool(openClaims, undefined, { title: "Open claims", confirm: bulkConfirmation }),
  defineTool(
    d.update,
    "Update, close, cancel or reopen a dispute. Closing, canceling and another amount ask the person first.",
    { confirm: disputeEnding },
  ),
  defineTool(applyChanges, undefined, {
    title: "Apply changes to disputes",
    confirm: bulkConfirmation,
  }),
  defineTool(d.delete, undefined, { confirm: disputeDeletion }),
  defineTool(d.list_by_document_numbers),
  defineTool(d.list_by_ids),
  defineTool(notes.get),
  defineTool(notes.list),
  defineTool(notes.create, "Add a note to a dispute; Internal by default."),
  defineTool(notes.update),
  defineTool(notes.delete, undefined, { confirm: noteDeletion }),
  defineTool(files.get),
  defineTool(files.list),
  defineTool(files.create, "Create an attachment and get a URL for one HTTP PUT of its bytes."),
  defineTool(files.update),
  defineTool(files.delete, undefined, { confirm: fileDeletion }),
  defineTool(uploadFile),
  defineTool(downloadFile),
];
