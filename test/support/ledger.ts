import { DAY } from "../../src/kit/clock.ts";
import { createDice } from "./dice.ts";

/** An invoice as a receivables ledger exports it; days are moments of midnight in UTC. */
export type Invoice = {
  country: string;
  customer: string;
  number: string;
  invoiced: number;
  settled: number;
  amount: string;
  disputed: boolean;
};

const FIRST_DAY = Date.UTC(2025, 0, 2);
const CUSTOMERS = 12;
/** A customer is in one country. */
const COUNTRIES = ["100", "204", "377"];

/** The same invoices for the same seed. */
export const invoices = (seed: number, count: number): Invoice[] => {
  const dice = createDice(seed);
  return Array.from({ length: count }, (_, place) => {
    const invoiced = FIRST_DAY + dice.whole(0, 300) * DAY;
    const customer = dice.whole(1, CUSTOMERS);
    return {
      country: COUNTRIES[customer % COUNTRIES.length] ?? "",
      customer: `${customer}-CUST`,
      // Leading zeros belong to the number.
      number: String(place * 7919 + 41).padStart(10, "0"),
      invoiced,
      settled: invoiced + dice.whole(2, 75) * DAY,
      amount: `${dice.whole(1, 180)}.${String(dice.whole(0, 99)).padStart(2, "0")}`,
      disputed: dice.chance(0.25),
    };
  });
};

const slashed = (at: number): string => {
  const day = new Date(at);
  return `${day.getUTCMonth() + 1}/${day.getUTCDate()}/${day.getUTCFullYear()}`;
};

const HEADER =
  "countryCode,customerID,PaperlessDate,invoiceNumber,InvoiceDate,DueDate,InvoiceAmount,Disputed,SettledDate,PaperlessBill,DaysToSettle,DaysLate";

const lineOf = (one: Invoice): string =>
  [
    one.country,
    one.customer,
    slashed(one.invoiced - 40 * DAY),
    one.number,
    slashed(one.invoiced),
    slashed(one.invoiced + 30 * DAY),
    one.amount,
    one.disputed ? "Yes" : "No",
    slashed(one.settled),
    "Paper",
    (one.settled - one.invoiced) / DAY,
    Math.max(0, (one.settled - one.invoiced) / DAY - 30),
  ].join(",");

export const ledgerCsv = (all: readonly Invoice[]): string =>
  [HEADER, ...all.map(lineOf), ""].join("\r\n");

/** The ledger's disputed invoices as they stood on a day, as disputes. */
export const ledgerMap = (asOf: string) => ({
  where: [
    { column: "Disputed", equals: "Yes" },
    { column: "InvoiceDate", date: "M/D/YYYY", notAfter: asOf },
  ],
  sourceKey: ["countryCode", "invoiceNumber"],
  accountNumber: "customerID",
  documentNumber: "invoiceNumber",
  amount: "InvoiceAmount",
  categoryCode: { value: "LEDGER" },
  reasonCode: { value: "DISPUTED" },
  createDate: { column: "InvoiceDate", date: "M/D/YYYY" },
  closedDate: { column: "SettledDate", date: "M/D/YYYY", asOf },
  status: { column: "SettledDate", date: "M/D/YYYY", asOf, values: { "": 0, "*": 1 } },
});

/** Returns the disputes that an import on that day creates. */
export const disputesOf = (all: readonly Invoice[], asOf: string) => {
  const end = Date.parse(`${asOf}T00:00:00Z`);
  const seen = all.filter(({ disputed, invoiced }) => disputed && invoiced <= end);
  return { seen, open: seen.filter(({ settled }) => settled > end) };
};

const day = (column: string) => ({ column, date: "M/D/YYYY" });

/** The ledger's customers, its invoices, and those of them that were paid by a day. */
export const recordMaps = (asOf: string) => ({
  accounts: {
    account_number: "customerID",
    name: "customerID",
    currency: { value: "USD" },
    "billing_address.country": {
      column: "countryCode",
      values: { "100": "US", "204": "DE", "377": "MC" },
    },
  },
  documents: {
    document_number: "invoiceNumber",
    invoice_num: "invoiceNumber",
    account_number: "customerID",
    invoice_date: day("InvoiceDate"),
    due_date: day("DueDate"),
    currency: { value: "USD" },
    original_denomination: "InvoiceAmount",
    denomination: "InvoiceAmount",
  },
  closures: {
    where: { ...day("SettledDate"), notAfter: asOf },
    document_number: "invoiceNumber",
    closure_reason: { value: "paid" },
    closure_date: day("SettledDate"),
  },
});
