import { contract } from "../src/contract/index.ts";
import { findSideEffects } from "../src/contract/operation.ts";
import { describeAccount, describeDocument, listItems, formatName } from "./formatting.ts";
import {
  ABSENT,
  type Arguments,
  type Confirmation,
  type ConfirmationRead,
  type Records,
  defineTool,
} from "./tool.ts";

const { accounts, account_notes: notes, documents, document_attachments: attachments } = contract;

const accountReplacement: Confirmation = {
  reads: { account: accounts.get },
  etagFrom: "account",
  question: ({ account_number, name }, { account }) =>
    `Replace account ${describeAccount(account, account_number)}, with one named ${formatName(name)}? Fields that are not sent are lost.`,
};

const MAX_DISPUTES = 100;
const OPEN = 0;

/** Reads for the question about closing a document, which also closes its open disputes. */
const disputeReads: Record<"disputes" | "resolutions", ConfirmationRead> = {
  disputes: {
    operation: contract.disputes.list,
    args: ({ document_number }) => ({
      DocumentNumber: document_number,
      Status: [OPEN],
      Page: 1,
      PageSize: MAX_DISPUTES,
    }),
  },
  resolutions: { operation: contract.resolutions.list, args: () => ({}) },
};

const isPaidOff = (args: Arguments): boolean =>
  findSideEffects(documents.update, args).some(({ kind }) => kind === "closes");

const readIfPaidOff = ({ operation, args }: ConfirmationRead): ConfirmationRead => ({
  operation,
  args: (given) => (isPaidOff(given) ? args(given) : undefined),
});

const describeClosedDisputes = ({ disputes, resolutions }: Records): string => {
  const open = listItems(disputes)?.length;
  if (open === 0) return "";
  if (resolutions === undefined) return " Open disputes on it may close too.";
  const chosen = listItems(resolutions)?.find(
    ({ applyWhenInvoiceClosed, active }) => applyWhenInvoiceClosed === true && active !== false,
  );
  if (chosen === undefined) return "";
  const how = `as ${formatName(chosen["code"])}, which counts as ${chosen["isValid"] === true ? "valid" : "not valid"}`;
  if (open === undefined) return ` Open disputes on it close too, ${how}.`;
  if (open === 1) return ` The open dispute on it closes too, ${how}.`;
  const count = open < MAX_DISPUTES ? String(open) : `${open} or more`;
  return ` The ${count} open disputes on it close too, ${how}.`;
};

const askToCreateClosed = (
  { document_number, account_number }: Arguments,
  ending: string,
): string =>
  `Create document ${formatName(document_number)} of account ${formatName(account_number)} as closed, with nothing left to pay?${ending}`;

const documentReplacement: Confirmation = {
  reads: {
    document: documents.get,
    disputes: readIfPaidOff(disputeReads.disputes),
    resolutions: readIfPaidOff(disputeReads.resolutions),
  },
  etagFrom: "document",
  question(args, records) {
    const { document_number, account_number } = args;
    const { document } = records;
    const closes = isPaidOff(args) && document?.["status"] !== "closed";
    const ending = closes ? describeClosedDisputes(records) : "";
    if (records[ABSENT] !== undefined) return askToCreateClosed(args, ending);
    const closed = closes ? " With nothing left to pay, it closes." : "";
    return `Replace document ${describeDocument(document, document_number)}, with one of account ${formatName(account_number)}? Fields that are not sent are lost.${closed}${ending}`;
  },
};

const documentCreation: Confirmation = {
  reads: {
    document: { operation: documents.get, args: ({ document_number }) => ({ document_number }) },
    ...disputeReads,
  },
  // The platform refuses a second document with this number.
  question: (args, records) =>
    records["document"] === undefined
      ? askToCreateClosed(args, describeClosedDisputes(records))
      : null,
};

/** Creates the confirmation for closing a document in one of two ways. */
const confirmClosing = (describeHow: (args: Arguments) => string): Confirmation => ({
  reads: { document: documents.get, ...disputeReads },
  etagFrom: "document",
  question(args, records) {
    const { document } = records;
    // The update closes nothing then, and the platform refuses to close a document twice.
    if (document?.["status"] === "closed") return null;
    const which = describeDocument(document, args["document_number"]);
    return `Close document ${which}, ${describeHow(args)}?${describeClosedDisputes(records)}`;
  },
});

const documentUpdate = confirmClosing(() => "with nothing left to pay");

const documentClosure = confirmClosing(({ closure_reason, closure_date }) => {
  const when = closure_date === undefined ? "" : `, on ${formatName(closure_date)}`;
  return `as ${formatName(closure_reason)}${when}`;
});

export const ingest = [
  defineTool(accounts.get),
  defineTool(accounts.list, undefined, {
    instead: "find_records finds accounts by number or name.",
  }),
  defineTool(accounts.create),
  defineTool(
    accounts.replace,
    "Create an account or replace all its fields. Replacing asks the person first.",
    { confirm: accountReplacement },
  ),
  defineTool(accounts.update),
  defineTool(notes.get),
  defineTool(notes.create),
  defineTool(documents.get),
  defineTool(documents.list, undefined, {
    instead: "documents_get reads a document by its number.",
  }),
  defineTool(documents.create, undefined, { confirm: documentCreation }),
  defineTool(
    documents.replace,
    "Create a document or replace all its fields. Replacing asks the person first.",
    { confirm: documentReplacement },
  ),
  defineTool(documents.update, undefined, { confirm: documentUpdate }),
  defineTool(documents.close, undefined, { confirm: documentClosure }),
  defineTool(attachments.list),
  defineTool(attachments.get, "Read a PDF of a document: text, pictures or the file itself."),
];
