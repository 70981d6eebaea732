import { contract } from "../src/contract/index.ts";
import { accountNamed, documentNamed, named } from "./shown.ts";
import { type Consent, tool } from "./tool.ts";

const { accounts, account_notes: notes, documents, document_attachments: attachments } = contract;

const accountReplacement: Consent = {
  reads: { account: accounts.get },
  holds: "account",
  question: ({ account_number, name }, { account }) =>
    `Replace account ${accountNamed(account, account_number)}, with one named ${named(name)}? Fields that are not sent are lost.`,
};

const documentReplacement: Consent = {
  reads: { document: documents.get },
  holds: "document",
  question: ({ document_number, account_number }, { document }) =>
    `Replace document ${documentNamed(document, document_number)}, with one of account ${named(account_number)}? Fields that are not sent are lost.`,
};

const closure: Consent = {
  reads: { document: documents.get },
  holds: "document",
  question({ document_number, closure_reason, closure_date }, { document }) {
    // The platform refuses it then, and nobody needs to be asked.
    if (document?.["status"] === "closed") return null;
    const when = closure_date === undefined ? "" : `, on ${named(closure_date)}`;
    return `Close document ${documentNamed(document, document_number)}, as ${named(closure_reason)}${when}?`;
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
  tool(documents.create),
  tool(
    documents.replace,
    "Create a document or replace it with all its fields; replacing asks the person.",
    { confirm: documentReplacement },
  ),
  tool(documents.update),
  tool(documents.close, undefined, { confirm: closure }),
  tool(attachments.list),
  tool(
    attachments.get,
    "Read a PDF file of a document; a large one comes as a link to a resource.",
  ),
];
