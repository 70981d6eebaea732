import { type Source, SOURCES } from "../../contract/payments/catalogue.ts";
import { DAY } from "../../kit/clock.ts";
import { hashValues } from "../import/payments/row.ts";
import { addPayments, takeSeqs } from "../store/queries/payments.ts";
import type { Db } from "../store/port.ts";
import { type DemoData, type Row, deriveId } from "./data.ts";
import type { Ledger } from "./ledger.ts";

/** A payment row by the field names of the catalogue. */
export type Payment = Row & { createdAt: string };

export type Payments = Readonly<Record<Source, Payment[]>>;

/** The currency of money that no account is known for. */
const BASE_CURRENCY = "USD";

const countDays = (from: unknown, to: unknown): number =>
  Math.round((Date.parse(String(to)) - Date.parse(String(from))) / DAY);

/** The fields that follow from a payment's invoice and its account. */
const deriveFields = (source: Source, row: Row, { documents, accounts }: Ledger): Row => {
  const invoice = documents.get(String(row["invoiceNumber"]));
  const account = accounts.get(invoice?.account_number ?? String(row["accountNumber"]));
  const payer = accounts.get(account?.parent_account_number ?? "") ?? account;
  const { fields } = invoice ?? {};
  const common = {
    accountNumber: account?.account_number,
    currencyCode: account?.currency ?? BASE_CURRENCY,
    invoiceAmount: fields?.original_denomination,
  };
  if (source === "bpn") {
    const payerId = payer?.account_number.replace("C-", "BP-");
    return { ...common, payerName: payer?.name, payerId };
  }
  const billed = {
    ...common,
    accountName: account?.name,
    documentNumber: invoice?.document_number,
    poNumber: fields?.po_number,
  };
  if (source === "cashapp") {
    const customerLocation = account?.fields.billing_address?.city;
    return { ...billed, payerName: payer?.name, customerLocation };
  }
  const { paymentDate } = row;
  const dates = { invoiceDate: fields?.invoice_date, dueDate: fields?.due_date };
  if (paymentDate === undefined) return { ...billed, ...dates };
  return { ...billed, ...dates, daysToPay: countDays(dates.invoiceDate, paymentDate) };
};

export const buildPayments = (data: DemoData, tenantId: string, ledger: Ledger): Payments => {
  const rows = (source: Source): Payment[] =>
    data.records<Payment>(`payments-${source}`).map((row, place) => ({
      id: deriveId(`#${source}/${place}`),
      tenantId,
      ...deriveFields(source, row, ledger),
      ...row,
    }));
  return { cashapp: rows("cashapp"), iandp: rows("iandp"), bpn: rows("bpn") };
};

/** Inserts payments in the order of the data: a row's number says what was there when it arrived. */
export const insertPayments = async (tx: Db, tenantId: string, all: Payments): Promise<void> => {
  for (const source of SOURCES) {
    const first = await takeSeqs(tx, tenantId, source, all[source].length);
    const rows = all[source].map((values, place) => ({
      tenantId,
      seq: first + place,
      sentHash: hashValues(values),
      values,
    }));
    await addPayments(tx, source, rows);
  }
};
