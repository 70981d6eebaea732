import { csv } from "./import-tables.ts";
import type { UNKNOWN_FILES } from "./unknown-files.ts";

/** Forms that spreadsheets and ledgers write beside those of the other files. */
export const UNKNOWN_SHEETS: typeof UNKNOWN_FILES = [
  [
    "a German ledger whose signs are all of one side",
    "documents",
    () =>
      csv(
        "Konto;Belegfeld 1;Belegdatum;F\u00E4llig;Umsatz;S/H;WKZ\n10001;RE-1;13.02.2026;15.03.2026;1234,50;S;EUR\n",
      ),
    { records: 1, first: { document_number: "RE-1", denomination: 1234.5, currency: "EUR" } },
  ],
  [
    "an accounting format with dashes for zero",
    "cashapp",
    () =>
      csv(
        'Date,Customer,Debit (USD),Credit (USD)\n02/13/2026,Acme, $ - ," $ 1,234.50 "\n02/14/2026,Rent, $ 9.00 , $ - \n',
      ),
    {
      records: 1,
      first: { paymentAmount: 1234.5, payerName: "Acme", paymentDate: "2026-02-13" },
      leftOut: ["debit"],
    },
  ],
  [
    "a header of several lines, and codes in small letters",
    "cashapp",
    () =>
      csv('Date,Transaction ID,"Gross\nAmount",Currency,Name\n02/13/2026,T1,"1,000.00",usd,Acme\n'),
    { records: 1, first: { paymentId: "T1", paymentAmount: 1000, currencyCode: "USD" } },
  ],
  [
    "a ledger with amounts in the currency of the company",
    "documents",
    () =>
      csv(
        "Kunde|Belegnummer|Belegdatum|Nettof\u00E4lligkeit|Betrag in HW|W\u00E4hrg\n100001|18|13.02.2026|15.03.2026|1.234,50|EUR\n100001|16|14.02.2026|14.02.2026|50,00-|EUR\n",
      ),
    { records: 2, first: { denomination: 1234.5 }, last: { denomination: -50, currency: "EUR" } },
  ],
];
