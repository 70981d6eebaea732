import type { Concept } from "./headings.ts";

/** The concepts that can fill a field, best first. */
export type Plan = readonly (readonly [field: string, ...concepts: Concept[]])[];

const CASHAPP: Plan = [
  ["paymentId", "paymentId", "reference", "id"],
  ["paymentDate", "paymentDate", "createdDate", "documentDate"],
  ["paymentAmount", "amount", "originalAmount", "appliedAmount"],
  ["currencyCode", "currency"],
  ["payerName", "customerName"],
  ["accountNumber", "accountNumber"],
  ["documentNumber", "documentNumber"],
  ["paymentReference", "reference"],
  ["appliedAmount", "appliedAmount"],
  ["poNumber", "poNumber"],
  ["discountTaken", "discount"],
  ["deductionAmount", "deduction"],
  ["deductionReasonCode", "reason"],
  ["remittanceText", "text"],
];

const IANDP: Plan = [
  ["paymentId", "paymentId", "reference", "id"],
  ["paymentDate", "paymentDate", "createdDate"],
  ["amountPaid", "amount", "appliedAmount"],
  ["currencyCode", "currency"],
  ["confirmationNumber", "reference"],
  ["invoiceNumber", "documentNumber"],
  ["accountNumber", "accountNumber"],
  ["accountName", "customerName"],
  ["invoiceDate", "documentDate"],
  ["dueDate", "dueDate"],
  ["invoiceAmount", "originalAmount"],
  ["openBalance", "openAmount"],
  ["discountAmount", "discount"],
  ["poNumber", "poNumber"],
  ["remittanceText", "text"],
];

const BPN: Plan = [
  ["networkPaymentId", "paymentId", "reference", "id"],
  ["paymentDate", "paymentDate", "createdDate"],
  ["paymentAmount", "amount"],
  ["currencyCode", "currency"],
  ["payerName", "customerName"],
  ["accountNumber", "accountNumber"],
  ["traceNumber", "reference"],
  ["invoiceNumber", "documentNumber"],
  ["amountPaid", "appliedAmount"],
  ["adjustmentAmount", "deduction"],
  ["adjustmentReasonCode", "reason"],
  ["remittanceText", "text"],
];

const DOCUMENTS: Plan = [
  ["document_number", "documentNumber", "number", "reference"],
  ["invoice_num", "documentNumber", "number"],
  ["account_number", "accountNumber", "customerName"],
  ["document_type", "documentType"],
  ["applies_to_invoice", "appliesTo"],
  ["invoice_date", "documentDate", "paymentDate", "createdDate"],
  ["due_date", "dueDate"],
  ["currency", "currency"],
  ["original_denomination", "originalAmount", "amount", "openAmount"],
  ["denomination", "openAmount", "amount", "originalAmount"],
  ["po_number", "poNumber"],
  ["description", "text"],
  ["payment_terms", "terms"],
];

const ACCOUNTS: Plan = [
  ["account_number", "accountNumber"],
  ["name", "customerName"],
  ["currency", "currency"],
  ["email", "email"],
  ["phone", "phone"],
  ["vat", "vat"],
  ["payment_terms", "terms"],
  ["credit_limit", "creditLimit"],
  ["billing_address.address1", "street"],
  ["billing_address.city", "city"],
  ["billing_address.zip", "zip"],
  ["billing_address.country", "country"],
  ["description", "text"],
];

const DISPUTES: Plan = [
  ["accountNumber", "accountNumber", "customerName"],
  ["accountName", "customerName"],
  ["documentNumber", "documentNumber"],
  ["amount", "deduction", "amount", "openAmount", "originalAmount"],
  ["currencyCode", "currency"],
  ["categoryCode", "category"],
  ["reasonCode", "reason"],
  ["poNumber", "poNumber"],
  ["createDate", "createdDate", "documentDate", "paymentDate"],
  ["closedDate", "closedDate"],
  ["assigneeEmail", "email"],
];

const CLOSURES: Plan = [
  ["document_number", "documentNumber"],
  ["closure_date", "closedDate", "paymentDate"],
  ["notes", "text"],
];

const NOTES: Plan = [
  ["disputeNoteId"],
  ["disputeId"],
  ["disputeCode", "disputeCode"],
  ["documentNumber", "documentNumber"],
  ["content", "text"],
  ["visibility"],
  ["createUser", "author", "email"],
  ["createDate", "createdDate", "documentDate", "paymentDate"],
  ["updateUser"],
  ["updateDate"],
];

const ACCOUNT_NOTES: Plan = [
  ["account_number", "accountNumber", "customerName"],
  ["reference", "reference", "number"],
  ["body", "text"],
  ["subject", "subject"],
  ["note_type"],
  ["effective_date"],
  ["created_by", "author", "email"],
  ["created_at", "createdDate", "documentDate", "paymentDate"],
];

const USERS: Plan = [
  ["email", "email"],
  ["firstName", "firstName"],
  ["lastName", "lastName"],
  ["roles", "role"],
  ["status"],
  ["timeZone"],
  ["defaultLanguage"],
  ["createdDate", "createdDate", "documentDate"],
];

/** The plans of the kinds whose files are tables of columns, those of payments per source. */
export const PLANS: Readonly<Record<string, Plan>> = {
  "payments cashapp": CASHAPP,
  "payments iandp": IANDP,
  "payments bpn": BPN,
  documents: DOCUMENTS,
  accounts: ACCOUNTS,
  disputes: DISPUTES,
  closures: CLOSURES,
  notes: NOTES,
  "account-notes": ACCOUNT_NOTES,
  users: USERS,
};
