import type { AuditMetadata } from "../operation.ts";
import {
  boolean,
  choice,
  date,
  datetime,
  type Field,
  integer,
  money,
  number,
  string,
  withCommonFields,
} from "./field.ts";

export const SOURCES = ["cashapp", "iandp", "bpn"] as const;
export type Source = (typeof SOURCES)[number];

/** The sources for readers who do not know their names. */
export const SOURCE_WORDS =
  "cashapp (cash application: payments and what they pay), iandp (invoices paid in the portal) or bpn (payment network)";

export type SourceEntry = { source: Source; description: string; fields: readonly Field[] };

/** Fields of cash application: one row per application of a payment to a document. */
const cashapp: readonly Field[] = withCommonFields([
  string("*+paymentId", "payment id, shared by all rows of the payment"),
  string("batchId", "batch id"),
  date("*+paymentDate", "date of payment"),
  date("*depositDate", "date of deposit"),
  datetime("postedAt", "time of posting to the ledger"),
  choice("*paymentMethod", "payment method", "check", "ach", "wire", "card", "lockbox", "other"),
  string("*+paymentReference", "check or trace number"),
  string("*+payerName", "payer name"),
  string("payerAccountLast4", "last four digits of the payer's bank account"),
  string("*+accountNumber", "customer account number"),
  string("*+accountName", "customer name"),
  string("customerLocation", "customer location"),
  string("*+documentNumber", "number of the paid document"),
  string("*+invoiceNumber", "invoice number as the customer knows it"),
  string("poNumber", "customer purchase order number"),
  string("*currencyCode", "ISO 4217 currency of all amounts in the row"),
  money("*paymentAmount", "total of the payment; repeated on each of its rows"),
  money("*appliedAmount", "amount applied to the document"),
  money(
    "*unappliedAmount",
    "amount of the payment not applied to any document; repeated on each of its rows",
  ),
  money("invoiceAmount", "total of the document"),
  money("invoiceBalance", "open balance of the document"),
  money("discountTaken", "cash discount taken"),
  money("*deductionAmount", "amount the customer deducted"),
  string("*deductionReasonCode", "customer's reason for the deduction"),
  boolean("*shortPay", "whether less was paid than due"),
  choice(
    "*applicationStatus",
    "application status",
    "matched",
    "partial",
    "unapplied",
    "on_account",
    "reversed",
  ),
  choice("matchMethod", "how the match was made", "auto", "manual", "suggested"),
  number("matchConfidence", "confidence of the match, 0 to 1"),
  choice(
    "remittanceSource",
    "source of the remittance advice",
    "edi820",
    "bai2",
    "camt054",
    "email",
    "portal",
    "lockbox",
    "manual",
  ),
  string("remittanceId", "remittance advice id"),
  string("lockboxNumber", "lockbox number"),
  string("bankAccountLast4", "last four digits of the receiving bank account"),
  string("+disputeId", "id of the dispute on the document"),
  datetime("exportedAt", "time of export to the ledger"),
  string("remittanceText", "all texts that the bank or the payer sent with the payment"),
  money("feeAmount", "charges that the bank kept of the payment"),
  string("returnReason", "why the bank returned the payment: its code and text"),
  string("returnedPaymentId", "id of the payment that this row returns"),
  string("doubt", "why the payment is doubtful, for instance a possible duplicate"),
]);

/** Fields of invoices and payments: one row per portal payment of an invoice. */
const iandp: readonly Field[] = withCommonFields([
  string("*+paymentId", "payment id"),
  string("*confirmationNumber", "confirmation number shown to the payer"),
  string("*+invoiceNumber", "invoice number as the customer knows it"),
  string("*+documentNumber", "number of the paid document"),
  string("*+accountNumber", "customer account number"),
  string("*accountName", "customer name"),
  date("*invoiceDate", "invoice date"),
  date("*dueDate", "due date"),
  money("*invoiceAmount", "total of the invoice"),
  money("*amountPaid", "amount of the invoice that this payment pays"),
  money("*openBalance", "balance after the payment"),
  money("surchargeAmount", "surcharge for the payment method"),
  money("discountAmount", "discount granted"),
  string("*currencyCode", "ISO 4217 currency of all amounts in the row"),
  date("*+paymentDate", "date of payment"),
  date("scheduledDate", "date of a scheduled payment"),
  date("*settlementDate", "date of settlement"),
  choice("*paymentMethod", "payment method", "card", "ach", "check", "wire"),
  string("cardBrand", "card brand"),
  string("accountLast4", "last four digits of the card or bank account"),
  choice(
    "*paymentStatus",
    "payment status",
    "scheduled",
    "pending",
    "settled",
    "failed",
    "refunded",
    "voided",
    "charged_back",
  ),
  string("failureCode", "code of the failure"),
  string("payerEmail", "payer e-mail address"),
  choice("paymentSource", "channel of the payment", "portal", "autopay", "api", "ivr", "csr"),
  boolean("autopay", "whether autopay made the payment"),
  integer("daysToPay", "days from invoice to payment"),
  string("branchName", "branch that issued the invoice"),
  string("poNumber", "customer purchase order number"),
]);

/** Fields of the business payment network: one row per remittance line of a payment. */
const bpn: readonly Field[] = withCommonFields([
  string("*+networkPaymentId", "payment id in the network"),
  string("*+payerId", "payer id in the network"),
  string("*+payerName", "payer name"),
  string("supplierId", "supplier id in the network"),
  string("supplierName", "supplier name"),
  string("*+accountNumber", "customer account number"),
  date("*+paymentDate", "date of payment"),
  date("*settlementDate", "date of settlement"),
  choice("*paymentMethod", "payment method", "vcard", "ach", "wire", "check"),
  money("*paymentAmount", "total of the payment; repeated on each of its rows"),
  string("*currencyCode", "ISO 4217 currency of all amounts in the row"),
  money("feeAmount", "network fee"),
  money("*netAmount", "payment amount minus the fee"),
  string("*traceNumber", "bank trace number"),
  string("*remittanceId", "remittance advice id"),
  integer("remittanceLine", "line number in the remittance advice"),
  string("*+invoiceNumber", "invoice number as the customer knows it"),
  money("invoiceAmount", "total of the invoice"),
  money("*amountPaid", "amount of the invoice that this line pays"),
  money("adjustmentAmount", "amount the payer deducted"),
  string("adjustmentReasonCode", "payer's reason for the deduction"),
  choice("*deliveryStatus", "delivery status", "received", "processing", "delivered", "returned"),
  string("cardLast4", "last four digits of the card number"),
  datetime("processedAt", "time the network processed the payment"),
]);

/** The payment sources that can be queried. The published schema, the filters and the store's columns derive from it. */
export const CATALOGUE: Readonly<Record<Source, SourceEntry>> = {
  cashapp: {
    source: "cashapp",
    description: "Cash application: customer payments and the documents they are applied to.",
    fields: cashapp,
  },
  iandp: {
    source: "iandp",
    description: "Invoices and payments: portal payments of invoices, with their status.",
    fields: iandp,
  },
  bpn: {
    source: "bpn",
    description: "Business payment network: one row per remittance line of a payment.",
    fields: bpn,
  },
};

/** Increases with every change of the catalogue. */
export const CATALOGUE_VERSION = "2";

export const isSource = (value: unknown): value is Source =>
  SOURCES.some((source) => source === value);

/** Returns the source that a request body names, for the audit entry; unknown sources are omitted. */
export const getSourceMetadata: AuditMetadata = ({ body }) => {
  const { source } = (body ?? {}) as { source?: unknown };
  return isSource(source) ? { source } : {};
};

export const findField = (source: Source, name: string): Field | undefined =>
  CATALOGUE[source].fields.find((field) => field.name === name);
