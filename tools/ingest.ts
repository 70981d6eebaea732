import { contract } from "../src/contract/index.ts";
import { effectsOf } from "../src/contract/operation.ts";
import { accountNamed, documentNamed, itemsOf, named } from "./shown.ts";
import { ABSENT, type Arguments, type Consent, type Reading, type Records, tool } from "./tool.ts";

const { accounts, account_notes: notes, documents, document_attachments: attachments } = contract;

const accountReplacement: Consent = {
  reads: { account: accounts.get },
  holds: "account",
  question: ({ account_number, name }, { account }) =>
    `Replace account ${accountNamed(account, account_number)}, with one named ${named(name)}? Fields that are not sent are lost.`,
};

const MOST_DISPUTES = 100;
const OPEN = 0;

/** What closing a document does to the open disputes on it. */
const onDisputes: Record<"disputes" | "resolutions", Reading> = {
  disputes: {
    operation: contract.disputes.list,
    args: ({ document_number }) => ({
      DocumentNumber: document_number,
      Status: [OPEN],
      Page: 1,
      PageSize: MOST_DISPUTES,
    }),
  },
  resolutions: { operation: contract.resolutions.list, args: () => ({}) },
};

const paysOff = (args: Arguments): boolean =>
  effectsOf(documents.update, args).some(({ kind }) => kind === "closes");

const ifPaidOff = ({ operation, args }: Reading): Reading => ({
  operation,
  args: (given) => (paysOff(given) ? args(given) : undefined),
});

const disputesClosed = ({ disputes, resolutions }: Records): string => {
  const open = itemsOf(disputes)?.length;
  if (open === 0) return "";
  if (resolutions === undefined) return " Open disputes on it may close too.";
  const chosen = itemsOf(resolutions)?.find(
    ({ applyWhenInvoiceClosed, active }) => applyWhenInvoiceClosed === true && active !== false,
  );
  if (chosen === undefined) return "";
  const how = `as ${named(chosen["code"])}, which counts as ${chosen["isValid"] === true ? "valid" : "not valid"}`;
  if (open === undefined) return ` Open disputes on it close too, ${how}.`;
  if (open === 1) return ` The open dispute on it closes too, ${how}.`;
  const count = open < MOST_DISPUTES ? String(open) : `${open} or more`;
  return ` The ${count} open disputes on it close too, ${how}.`;
};

const documentReplacement: Consent = {
  reads: {
    document: documents.get,
    disputes: ifPaidOff(onDisputes.disputes),
    resolutions: ifPaidOff(onDisputes.resolutions),
  },
  holds: "document",
  question(args, records) {
    const { document_number, account_number } = args;
    const { document } = records;
    const closes = paysOff(args) && document?.["status"] !== "closed";
    const ending = closes ? disputesClosed(records) : "";
    if (records[ABSENT] !== undefined) {
      return `Create document ${named(document_number)} of account ${named(account_number)} as closed, with nothing left to pay?${ending}`;
    }
    const closed = closes ? " With nothing left to pay, it closes." : "";
    return `Replace document ${documentNamed(document, document_number)}, with one of account ${named(account_number)}? Fields that are not sent are lost.${closed}${ending}`;
  },
};

const creation: Consent = {
  reads: {
    document: { operation: documents.get, args: ({ document_number }) => ({ document_number }) },
    ...onDisputes,
  },
  question({ document_number, account_number }, records) {
    // The platform refuses a second document of this number; documents are never deleted.
    if (records["document"] !== undefined) return null;
    return `Create document ${named(document_number)} of account ${named(account_number)} as closed, with nothing left to pay?${disputesClosed(records)}`;
  },
};

const payment: Consent = {
  reads: { document: documents.get, ...onDisputes },
  holds: "document",
  question({ document_number }, records) {
    const { document } = records;
    // It stays closed.
    if (document?.["status"] === "closed") return null;
    return `Close document ${documentNamed(document, document_number)}, with nothing left to pay?${disputesClosed(records)}`;
  },
};

const closure: Consent = {
  reads: { document: documents.get, ...onDisputes },
  holds: "document",
  question({ document_number, closure_reason, closure_date }, records) {
    const { document } = records;
    // The platform refuses it.
    if (document?.["status"] === "closed") return null;
    const when = closure_date === undefined ? "" : `, on ${named(closure_date)}`;
    return `Close document ${documentNamed(document, document_number)}, as ${named(closure_reason)}${when}?${disputesClosed(records)}`;
  },
};

export const ingest = [
  tool(accounts.get),
  tool(accounts.create),
  tool(
    accounts.replace,
    "Create an account or replace it with all its fields; replacing asks the person.",
    { confirm: accountReplacement },
  ),
  tool(accounts.update),
  tool(notes.get),
  tool(notes.create),
  tool(documents.get),
  tool(documents.create, undefined, { confirm: creation }),
  tool(
    documents.replace,
    "Create a document or replace it with all its fields; replacing asks the person.",
    { confirm: documentReplacement },
  ),
  tool(documents.update, undefined, { confirm: payment }),
  tool(documents.close, undefined, { confirm: closure }),
  tool(attachments.list),
  tool(
    attachments.get,
    "Read a PDF file of a document; a large one comes as a link to a resource.",
  ),
];
