import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { DAY, HOUR, MINUTE } from "../../../kit/clock.ts";
import type { DocumentClosureRow, DocumentRow } from "../../store/tables.ts";
import type { Making } from "../configuration.ts";
import { dateOnly, workday } from "../moments.ts";
import type { Account } from "./accounts.ts";
import type { CreditNote } from "./credit-notes.ts";
import type { Charge } from "./charges.ts";
import type { Ledger } from "./ledger.ts";
import type { Invoice } from "./invoices.ts";
import { balanceOf, type Settlement } from "./settlements.ts";

/** Who hands in documents, and closes them. */
export const BILLING = "import";
const HANDED_IN = 20 * HOUR;
const CENTS = 100;

/** A document's row, and how it was closed if it was. */
type Recorded = { row: DocumentRow; closure: DocumentClosureRow | null };

type End = { ageDays: number; reason: string | null };

type Course = {
  number: string;
  account: Account;
  ageDays: number;
  /** When something of it was last settled, and how often. */
  changes: readonly number[];
  end: End | null;
};

/** The evening of a working day, or just now. */
export const evening = (now: number, ageDays: number): number =>
  Math.min(workday(now, ageDays) + HANDED_IN, now - MINUTE);

const recorded = ({ now, tenantId }: Making, course: Course, fields: StoredDocument): Recorded => {
  const { number, account, changes, end } = course;
  const createdAt = evening(now, course.ageDays);
  const base = { tenant_id: tenantId, document_number: number };
  const closedAt = end === null ? 0 : evening(now, end.ageDays);
  return {
    row: {
      ...base,
      csr_id: 0,
      account_number: account.number,
      invoice_num: fields.invoice_num ?? null,
      currency: account.currency,
      status: end === null ? "open" : "closed",
      fields: JSON.stringify(fields),
      created_by: BILLING,
      created_at: createdAt,
      updated_by: BILLING,
      updated_at: changes.length === 0 ? createdAt : evening(now, Math.min(...changes)),
      version: changes.length + 1,
    },
    closure:
      end === null
        ? null
        : {
            ...base,
            number: 1,
            closure_reason: end.reason,
            source: end.reason === null ? "auto" : "import",
            closed_at: closedAt,
            notes: null,
            created_by: BILLING,
            created_at: closedAt,
          },
  };
};

const shipTo = ({ parent, number, address }: Account): Partial<StoredDocument> =>
  parent === null
    ? {}
    : {
        ship_to_account_num: number,
        ship_to_address_street: address.address1,
        ship_to_address_city: address.city,
        ...(address.state === undefined ? {} : { ship_to_address_state: address.state }),
        ship_to_address_zip: address.zip,
        ship_to_address_country: address.country,
      };

const discountOf = (
  { account: { terms }, lines }: Invoice,
  day: number,
): Partial<StoredDocument> => {
  if (terms.discount === undefined) return {};
  const goods = lines.reduce((sum, { lineCents }) => sum + lineCents, 0);
  return {
    discount_date: dateOnly(day + terms.discount.days * DAY),
    discount_amount: Math.round(goods * terms.discount.rate) / CENTS,
  };
};

const lineItems = ({ lines }: Invoice): StoredDocument["line_items"] =>
  lines.map((line, place) => ({
    line_number: place + 1,
    product_code: line.code,
    description: line.description,
    quantity: line.quantity,
    unit_of_measure: line.unit,
    unit_price: line.cents / CENTS,
    amount: line.lineCents / CENTS,
  }));

const charge = (name: "freight_amount" | "tax_amount", cents: number): Partial<StoredDocument> =>
  cents === 0 ? {} : { [name]: cents / CENTS };

const invoiceFields = (now: number, invoice: Invoice, balanceCents: number): StoredDocument => {
  const { number, account, poNumber } = invoice;
  const day = workday(now, invoice.ageDays);
  return {
    account_number: account.number,
    invoice_date: dateOnly(day),
    due_date: dateOnly(day + account.terms.days * DAY),
    document_type: "invoice",
    invoice_num: number,
    ...(poNumber === null ? {} : { po_number: poNumber }),
    pdf_name: `${number}.pdf`,
    ...shipTo(account),
    currency: account.currency,
    original_denomination: invoice.cents / CENTS,
    denomination: balanceCents / CENTS,
    line_items: lineItems(invoice),
    ...discountOf(invoice, day),
    ...charge("freight_amount", invoice.freightCents),
    ...charge("tax_amount", invoice.taxCents),
    payment_terms: account.terms.name,
  };
};

const WROTE_OFF = "write_off";

const endOf = (settlement: Settlement): End | null => {
  const { entries } = settlement;
  const last = entries.at(-1);
  if (last === undefined) return null;
  const writtenOff = entries.reduce(
    (sum, { kind, cents }) => (kind === WROTE_OFF ? sum + cents : sum),
    0,
  );
  if (balanceOf(settlement) !== writtenOff) return null;
  return { ageDays: last.ageDays, reason: writtenOff === 0 ? null : WROTE_OFF };
};

const invoiceRecord = (making: Making, settlement: Settlement): Recorded => {
  const { invoice, entries } = settlement;
  const course = {
    ...invoice,
    changes: entries.map(({ ageDays }) => ageDays),
    end: endOf(settlement),
  };
  return recorded(making, course, invoiceFields(making.now, invoice, balanceOf(settlement)));
};

const creditRecord = (making: Making, note: CreditNote): Recorded => {
  const { account, invoice, cents, number, claim, usedAgeDays } = note;
  const date = dateOnly(workday(making.now, note.ageDays));
  const end = usedAgeDays === null ? null : { ageDays: usedAgeDays, reason: "contra" };
  const changes = usedAgeDays === null ? [] : [usedAgeDays];
  // One that grants a claim is nothing any more once it is set off against the invoice.
  const settled = claim !== null;
  return recorded(
    making,
    { ...note, changes, end: settled && end !== null ? { ...end, reason: null } : end },
    {
      account_number: account.number,
      invoice_date: date,
      due_date: date,
      document_type: "credit_note",
      applies_to_invoice: invoice.number,
      invoice_num: number,
      ...(invoice.poNumber === null ? {} : { po_number: invoice.poNumber }),
      pdf_name: `${number}.pdf`,
      currency: account.currency,
      original_denomination: -cents / CENTS,
      denomination: settled ? 0 : -cents / CENTS,
      description: note.about,
    },
  );
};

const chargeRecord = (making: Making, one: Charge): Recorded => {
  const { account, number, cents } = one;
  const day = workday(making.now, one.ageDays);
  return recorded(
    making,
    { ...one, changes: [], end: null },
    {
      account_number: account.number,
      invoice_date: dateOnly(day),
      due_date: dateOnly(day + account.terms.days * DAY),
      document_type: "other",
      invoice_num: number,
      pdf_name: `${number}.pdf`,
      currency: account.currency,
      original_denomination: cents / CENTS,
      denomination: cents / CENTS,
      description: "Finance charge on what was past due at the end of the month",
    },
  );
};

/** Every document of a ledger, numbered by the store in the order in which they were handed in. */
export const documentRows = (
  making: Making,
  { settlements, creditNotes, charges }: Ledger,
): { documents: DocumentRow[]; closures: DocumentClosureRow[] } => {
  const all = [
    ...settlements.map((one) => invoiceRecord(making, one)),
    ...creditNotes.map((one) => creditRecord(making, one)),
    ...charges.map((one) => chargeRecord(making, one)),
  ].toSorted((one, other) => one.row.created_at - other.row.created_at);
  return {
    documents: all.map(({ row }, place) => ({ ...row, csr_id: place + 1 })),
    closures: all.flatMap(({ closure }) => closure ?? []),
  };
};
