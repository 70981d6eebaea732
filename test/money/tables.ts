import { writeXlsx } from "hucre/xlsx";
import type { Source } from "../../src/contract/payments/catalogue.ts";
import { amountOf, decimal, type Document, type Registered, sum } from "./truth.ts";

/** The format of tables that a program of a country writes. */
export type Locale = {
  name: "en" | "de" | "fr";
  delimiter: "," | ";";
  point: "." | ",";
  thousands: "," | "." | "\u00A0";
  /** The pattern of maps. */
  date: string;
};

export const LOCALES: readonly Locale[] = [
  { name: "en", delimiter: ",", point: ".", thousands: ",", date: "M/D/YYYY" },
  { name: "de", delimiter: ";", point: ",", thousands: ".", date: "DD.MM.YYYY" },
  { name: "fr", delimiter: ";", point: ",", thousands: "\u00A0", date: "DD/MM/YYYY" },
];

export type Form = Locale | "workbook";

type Money = { amount: number; decimals: number };
type Cell = string | Money | { day: string };
type Table = { heads: readonly string[]; rows: readonly (readonly Cell[])[] };

const formatDay = (day: string, { name }: Locale): string => {
  const [year = "", month = "", date = ""] = day.split("-");
  if (name === "en") return `${Number(month)}/${Number(date)}/${year}`;
  return [date, month, year].join(name === "de" ? "." : "/");
};

const formatMoney = ({ amount, decimals }: Money, { point, thousands }: Locale): string => {
  const [whole = "", fraction] = decimal(amount, decimals).split(".");
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
  return fraction === undefined ? grouped : `${grouped}${point}${fraction}`;
};

const quote = (text: string, { delimiter }: Locale): string =>
  text.includes(delimiter) || text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text;

const writeCell = (cell: Cell, locale: Locale): string => {
  if (typeof cell === "string") return cell;
  return "day" in cell ? formatDay(cell.day, locale) : formatMoney(cell, locale);
};

/** The encodings of text files. */
export const ENCODINGS = ["utf-8", "utf-8 with mark", "windows-1252", "utf-16le"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Encodes a text, which has characters of Latin-1 alone. */
export const encode = (text: string, encoding: Encoding): Buffer => {
  if (encoding === "utf-16le") return Buffer.from(`\uFEFF${text}`, "utf16le");
  if (encoding === "windows-1252") return Buffer.from(text, "latin1");
  return Buffer.from(encoding === "utf-8" ? text : `\uFEFF${text}`);
};

const writeCsv = ({ heads, rows }: Table, locale: Locale, encoding: Encoding): Buffer => {
  const lines = [heads, ...rows.map((row) => row.map((cell) => writeCell(cell, locale)))];
  const text = lines
    .map((cells) => cells.map((cell) => quote(cell, locale)).join(locale.delimiter))
    .join("\r\n");
  return encode(`${text}\r\n`, encoding);
};

const toValue = (cell: Cell): string | number => {
  if (typeof cell === "string") return cell;
  return "day" in cell ? cell.day : Number(decimal(cell.amount, cell.decimals));
};

const writeWorkbook = async ({ heads, rows }: Table): Promise<Buffer> => {
  const sheet = { name: "Export", rows: [[...heads], ...rows.map((row) => row.map(toValue))] };
  return Buffer.from(await writeXlsx({ sheets: [sheet] }));
};

type Fields = Readonly<Record<string, string | { day: string }>>;

const createMap = (fields: Fields, form: Form): object => {
  const columns = Object.entries(fields).map(([field, column]) => {
    if (typeof column === "string") return [field, column];
    return [field, form === "workbook" ? column.day : { column: column.day, date: form.date }];
  });
  if (form === "workbook") return Object.fromEntries(columns);
  const { point, thousands, delimiter } = form;
  return { delimiter, number: { decimal: point, thousands }, ...Object.fromEntries(columns) };
};

/** A table as bytes with its map. */
export type TableFile = { bytes: Buffer; map: object };

/** The form of a table and the encoding of its text. */
export type Writing = { form: Form; encoding: Encoding };

const write = async (
  table: Table,
  fields: Fields,
  { form, encoding }: Writing,
): Promise<TableFile> => ({
  bytes: await (form === "workbook" ? writeWorkbook(table) : writeCsv(table, form, encoding)),
  map: createMap(fields, form),
});

const REGISTERS: Readonly<Record<Source, Fields>> = {
  cashapp: {
    paymentId: "Payment",
    paymentDate: { day: "Date" },
    paymentAmount: "Amount",
    currencyCode: "Currency",
    accountNumber: "Customer",
    payerName: "Name",
    documentNumber: "Document",
  },
  iandp: {
    paymentId: "Payment",
    paymentDate: { day: "Date" },
    amountPaid: "Paid",
    currencyCode: "Currency",
    accountNumber: "Customer",
    accountName: "Name",
    invoiceNumber: "Document",
  },
  bpn: {
    networkPaymentId: "Payment",
    paymentDate: { day: "Date" },
    paymentAmount: "Amount",
    amountPaid: "Paid",
    currencyCode: "Currency",
    payerName: "Name",
    invoiceNumber: "Document",
  },
};

/** Writes a register of payments, one row for each document, in some with a line of totals. */
export const writeRegister = (
  source: Source,
  payments: readonly Registered[],
  writing: Writing,
  hasTotals: boolean,
): Promise<TableFile> => {
  const rows = payments.flatMap((payment): Cell[][] => {
    const { id, day, customer, currency, decimals, shares } = payment;
    const paid = { amount: amountOf(payment), decimals };
    return shares.map((share) => [
      id,
      { day },
      paid,
      { amount: share.paid, decimals },
      currency,
      customer.number,
      customer.name,
      share.document.number,
    ]);
  });
  const total = { amount: sum(payments.map(amountOf)), decimals: 2 };
  const last: Cell[] = ["Total", "", total, total, "", "", "", ""];
  const heads = ["Payment", "Date", "Amount", "Paid", "Currency", "Customer", "Name", "Document"];
  return write({ heads, rows: hasTotals ? [...rows, last] : rows }, REGISTERS[source], writing);
};

const LEDGER: Fields = {
  document_number: "Number",
  document_type: "Type",
  applies_to_invoice: "Invoice",
  account_number: "Customer",
  invoice_num: "Number",
  invoice_date: { day: "Date" },
  due_date: { day: "Due" },
  currency: "Currency",
  original_denomination: "Amount",
  denomination: "Open",
};

/** Writes the documents of a ledger. */
export const writeLedger = (
  documents: readonly Document[],
  writing: Writing,
): Promise<TableFile> => {
  const rows = documents.map((document): Cell[] => {
    const { number, customer, currency, decimals, credit } = document;
    const amount = credit === undefined ? document.amount : -document.amount;
    return [
      number,
      credit === undefined ? "invoice" : "credit_note",
      credit?.of?.number ?? "",
      customer.number,
      { day: "2026-01-05" },
      { day: "2026-02-04" },
      currency,
      { amount, decimals },
      { amount, decimals },
    ];
  });
  const heads = "Number,Type,Invoice,Customer,Date,Due,Currency,Amount,Open".split(",");
  return write({ heads, rows }, LEDGER, writing);
};
