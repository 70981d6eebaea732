import type { Document, DocumentWithClosing } from "../contract/operations/documents.ts";
import { parseDay, utcCalendar } from "../contract/insights/calendar.ts";
import type { Fields } from "./insight.ts";
import { toDay, toTenantDay, withoutNulls } from "./brief.ts";
import type { Moment } from "./standing.ts";

export type Balance = { currencyCode: string | null; amount: number | null };

type Typed = Pick<Document, "document_type">;

/** A credit note reduces the balance of its account, also if its amount was sent without a sign. */
const signed = ({ document_type }: Typed, amount: number | null): number | null =>
  document_type === "credit_note" && amount !== null && amount > 0 ? -amount : amount;

const findBalance = (document: Document): Balance => {
  const { currency, denomination, original_currency, base_currency } = document;
  const { denomination_in_original_currency, denomination_in_base_currency } = document;
  if (typeof denomination_in_original_currency === "number") {
    return {
      currencyCode: original_currency ?? currency ?? null,
      amount: denomination_in_original_currency,
    };
  }
  if (typeof denomination === "number") {
    return { currencyCode: currency ?? original_currency ?? null, amount: denomination };
  }
  return { currencyCode: base_currency ?? null, amount: denomination_in_base_currency ?? null };
};

/**
 * Returns the open balance in the document's own currency, else in the base currency; negative for a credit note, and 0
 * for a closed document.
 */
export const balanceOf = (document: Document): Balance => {
  const { currencyCode, amount } = findBalance(document);
  return { currencyCode, amount: document.status === "closed" ? 0 : signed(document, amount) };
};

/** Returns the amount that was billed, in the document's own currency if it is known; negative for a credit note. */
export const originalAmountOf = (document: Document): number | null =>
  signed(
    document,
    document.original_denomination_in_original_currency ??
      document.original_denomination ??
      document.original_denomination_in_base_currency ??
      null,
  );

/** Returns the days from the due date, which has no time zone, to a moment's day; negative before it is due. */
export const daysPastDue = (
  { due_date }: Document,
  { at, calendar }: Pick<Moment, "at" | "calendar">,
): number => calendar.dayNumber(at) - parseDay(utcCalendar.toDay(due_date));

/** Returns the fields of a document that matter for a dispute or a balance. */
export const toDocumentBrief = (document: DocumentWithClosing, asOf: Moment): Fields => {
  const { currencyCode, amount } = balanceOf(document);
  return withoutNulls({
    documentNumber: document.documentNumber,
    type: document.document_type,
    status: document.status,
    closedOn: toTenantDay(asOf.calendar, document.closedAt),
    closureReason: document.closure_reason,
    accountNumber: document.account_number,
    invoiceDate: toDay(document.invoice_date),
    dueDate: toDay(document.due_date),
    daysPastDue: document.status === "open" ? daysPastDue(document, asOf) : null,
    currencyCode,
    originalAmount: originalAmountOf(document),
    balance: amount,
    poNumber: document.po_number,
    description: document.description,
  });
};

type LineItem = NonNullable<Document["line_items"]>[number];

const toLine = (item: LineItem): Fields =>
  withoutNulls({
    line: item.line_number,
    product: item.product_code,
    description: item.description,
    quantity: item.quantity,
    unit: item.unit_of_measure,
    unitPrice: item.unit_price,
    amount: item.amount,
    tax: item.tax_amount,
  });

const toAddress = (document: Document): Fields =>
  withoutNulls({
    account: document.ship_to_account_num,
    street: document.ship_to_address_street,
    suite: document.ship_to_address_suite,
    city: document.ship_to_address_city,
    state: document.ship_to_address_state,
    zip: document.ship_to_address_zip,
    country: document.ship_to_address_country,
  });

/** Returns what was billed and where it went: line items, tax, freight, discount and the address. */
export const toBilling = (document: Document): Fields => {
  const shipTo = toAddress(document);
  const lines = document.line_items ?? [];
  return withoutNulls({
    taxAmount: document.tax_amount,
    freightAmount: document.freight_amount,
    discountAmount: document.discount_amount,
    paymentTerms: document.payment_terms,
    shipTo: Object.keys(shipTo).length === 0 ? null : shipTo,
    lineItems: lines.length === 0 ? null : lines.map(toLine),
  });
};
