import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { toDocumentColumns } from "../../src/platform/store/queries/listed-columns.ts";

const PER_ACCOUNT = 25;
export const TENANT = "bench";
const HEADER = "customer,invoice,invoiced,due,amount,po";

const two = (number: number): string => String(number).padStart(2, "0");

const invoiceOf = (place: number) => ({
  customer: `${Math.floor(place / PER_ACCOUNT)}-CUST`,
  invoice: String(place).padStart(10, "0"),
  month: 1 + (place % 9),
  day: 1 + (place % 28),
  amount: `${1 + ((place * 7919) % 5000)}.${two(place % 97)}`,
  po: `PO-${(place * 31) % 100_003}`,
});

const lineOf = (place: number): string => {
  const { customer, invoice, month, day, amount, po } = invoiceOf(place);
  return `${customer},${invoice},${month}/${day}/2025,${month + 2}/${day}/2025,${amount},${po}\n`;
};

/** From the columns of the file to the fields of documents. */
export const MAP = {
  document_number: "invoice",
  account_number: "customer",
  invoice_date: { column: "invoiced", date: "M/D/YYYY" },
  due_date: { column: "due", date: "M/D/YYYY" },
  currency: { value: "USD" },
  original_denomination: "amount",
  denomination: "amount",
  po_number: "po",
};

export const writeLedger = async (path: string, rows: number): Promise<void> => {
  const file = createWriteStream(path);
  file.write(`${HEADER}\n`);
  for (let place = 0; place < rows; place += 1) {
    // Writes the file in bounded memory.
    if (!file.write(lineOf(place))) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
};

export type Values = (string | number | null)[];

/** The columns by which a document is listed and searched. */
const LISTED = [
  "document_type",
  "due_on",
  "invoice_on",
  "balance",
  "balance_currency",
  "search_text",
] as const;

export const COLUMNS = `tenant_id, document_number, csr_id, account_number, currency, status, fields, ${LISTED.join(", ")},
  created_by, created_at, updated_by, updated_at, version`;

/** Returns the values of a row that the import stores. */
export const valuesOf = (place: number): Values => {
  const { customer, invoice, month, day, amount, po } = invoiceOf(place);
  const fields = {
    account_number: customer,
    invoice_date: `2025-${two(month)}-${two(day)}`,
    due_date: `2025-${two(month + 2)}-${two(day)}`,
    po_number: po,
    currency: "USD",
    original_denomination: Number(amount),
    denomination: Number(amount),
    document_type: "invoice" as const,
    pdf_name: `${invoice}.pdf`,
  };
  const listed = toDocumentColumns(invoice, fields);
  return [
    TENANT,
    invoice,
    place + 1,
    customer,
    "USD",
    "open",
    JSON.stringify(fields),
    ...LISTED.map((name) => listed[name]),
    "import",
    0,
    "import",
    0,
    1,
  ];
};
