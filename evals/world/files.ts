import type { Kind } from "../../src/platform/import/kinds.ts";
import {
  type Account,
  type Dispute,
  type Document,
  type Note,
  type Payment,
  type Records,
  type Source,
  SOURCES,
} from "./records.ts";

/** A file of records, one JSON object a line, as the command `import` takes it. */
export type WorldFile = { name: string; kind: Kind; source?: Source; text: string };

const toAmount = (cents: number): number => cents / 100;

const toAccount = ({ number, name, currency, isParent, parent }: Account) => ({
  account_number: number,
  name,
  currency,
  is_parent_account: isParent,
  ...(parent === undefined ? {} : { parent_account_number: parent }),
});

const toDocument = (one: Document) => ({
  document_number: one.number,
  account_number: one.account,
  document_type: one.type,
  invoice_date: one.invoiced,
  due_date: one.due,
  currency: one.currency,
  po_number: one.po,
  original_denomination: toAmount(one.original),
  denomination: toAmount(one.balance),
});

const toDispute = (one: Dispute) => ({
  accountNumber: one.account,
  accountName: one.accountName,
  documentNumber: one.document,
  amount: toAmount(one.amount),
  currencyCode: one.currency,
  reasonCode: one.reason,
  poNumber: one.po,
  status: one.status,
  createDate: one.created,
  updateDate: one.closed ?? one.created,
  closedDate: one.closed,
  resolutionCode: one.resolution,
  assigneeEmail: one.assignee,
});

const toNote = (one: Note) => ({
  disputeNoteId: one.id,
  disputeCode: one.dispute,
  content: one.content,
  visibility: one.visibility,
  createUser: one.author,
  createDate: one.at,
  updateDate: one.at,
});

const optional = (name: string, cents: number | undefined): object =>
  cents === undefined ? {} : { [name]: toAmount(cents) };

const toCash = (one: Payment) => ({
  id: one.id,
  paymentId: one.payment,
  paymentDate: one.day,
  paymentMethod: one.method,
  paymentReference: one.reference,
  payerName: one.payer,
  accountNumber: one.account,
  accountName: one.payer,
  documentNumber: one.document,
  invoiceNumber: one.document,
  currencyCode: one.currency,
  ...optional("paymentAmount", one.total),
  ...optional("appliedAmount", one.applied),
  ...optional("unappliedAmount", one.unapplied),
  ...optional("deductionAmount", one.deducted),
  ...(one.deducted === undefined ? {} : { shortPay: true }),
  applicationStatus: one.document === undefined ? "unapplied" : "matched",
});

const toPortal = (one: Payment) => ({
  id: one.id,
  paymentId: one.payment,
  paymentDate: one.day,
  paymentMethod: one.method,
  accountNumber: one.account,
  accountName: one.payer,
  documentNumber: one.document,
  invoiceNumber: one.document,
  currencyCode: one.currency,
  ...optional("amountPaid", one.applied),
  paymentStatus: one.status,
});

const toNetwork = (one: Payment) => ({
  id: one.id,
  networkPaymentId: one.payment,
  paymentDate: one.day,
  paymentMethod: one.method,
  payerName: one.payer,
  accountNumber: one.account,
  invoiceNumber: one.document,
  currencyCode: one.currency,
  ...optional("paymentAmount", one.total),
  ...optional("amountPaid", one.applied),
  deliveryStatus: "delivered",
});

const PAYMENTS: Record<Source, (one: Payment) => object> = {
  cashapp: toCash,
  iandp: toPortal,
  bpn: toNetwork,
};

const toText = <T>(records: readonly T[], toRow: (record: T) => object): string =>
  records.map((one) => `${JSON.stringify(toRow(one))}\n`).join("");

/** Returns the files of the records, in the order in which they are imported. */
export const toFiles = ({
  accounts,
  documents,
  disputes,
  notes,
  payments,
}: Records): WorldFile[] => [
  { name: "accounts.ndjson", kind: "accounts", text: toText(accounts, toAccount) },
  { name: "documents.ndjson", kind: "documents", text: toText(documents, toDocument) },
  { name: "disputes.ndjson", kind: "disputes", text: toText(disputes, toDispute) },
  { name: "notes.ndjson", kind: "notes", text: toText(notes, toNote) },
  ...SOURCES.map((source): WorldFile => {
    const rows = payments.filter((one) => one.source === source);
    const text = toText(rows, PAYMENTS[source]);
    return { name: `payments-${source}.ndjson`, kind: "payments", source, text };
  }),
];
