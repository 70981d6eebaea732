import { describe, expect, it } from "vitest";
import {
  csv,
  type Kind,
  readTable,
  suggest,
  type TableFile,
  workbook,
} from "../support/import-tables.ts";
import { verifies } from "../support/verifies.ts";

const lines = (...rows: string[]): TableFile => csv(`${rows.join("\n")}\n`);

type Read = { records: object[]; leftOut?: number };

/** Exports as the programs write them, and what must be read with the map that is suggested. */
const EXPORTS: readonly [title: string, kind: Kind, file: TableFile, read: Read][] = [
  [
    "a list of ING in Dutch",
    "cashapp",
    lines(
      '"Datum","Naam / Omschrijving","Rekening","Tegenrekening","Code","Af Bij","Bedrag (EUR)","Mutatiesoort","Mededelingen"',
      '"20260305","ACME BV","NL01INGB0001234567","NL02ABNA0123456789","OV","Bij","1250,50","Overschrijving","INV-1001"',
      '"20260306","Verhuurder","NL01INGB0001234567","NL03RABO0123456789","GT","Af","200,00","Online bankieren","Huur"',
    ),
    {
      records: [
        {
          paymentDate: "2026-03-05",
          paymentAmount: 1250.5,
          currencyCode: "EUR",
          payerName: "ACME BV",
          remittanceText: "INV-1001",
        },
      ],
      leftOut: 1,
    },
  ],
  [
    "a list of PostFinance, with debits below zero",
    "cashapp",
    lines(
      "Datum;Bewegungstyp;Avisierungstext;Gutschrift in CHF;Lastschrift in CHF;Label",
      "27.05.2026;Gutschrift;KUNDE A;500.00;;",
      "28.05.2026;Lastschrift;MIETE;;-30.00;",
    ),
    {
      records: [{ paymentDate: "2026-05-27", paymentAmount: 500, currencyCode: "CHF" }],
      leftOut: 1,
    },
  ],
  [
    "a list of Revolut",
    "cashapp",
    lines(
      "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance",
      "TOPUP,Current,2026-03-01 10:00:00,2026-03-02 10:00:01,ACME,150.00,0.00,EUR,COMPLETED,150.00",
      "CARD_PAYMENT,Current,2026-03-02 10:00:00,2026-03-03 10:00:01,Shop,-20.00,0.00,EUR,COMPLETED,130.00",
    ),
    {
      records: [{ paymentDate: "2026-03-02", paymentAmount: 150, currencyCode: "EUR" }],
      leftOut: 1,
    },
  ],
  [
    "a list of HDFC, with a line below the header and a summary",
    "cashapp",
    lines(
      "HDFC BANK Ltd. Page No .: 1 Currency : INR",
      "",
      "Date,Narration,Chq./Ref.No.,Value Dt,Withdrawal Amt.,Deposit Amt.,Closing Balance",
      "********,********,********,********,********,********,********",
      '01/03/26,NEFT ACME,N060261,01/03/26,,"50,000.00","1,50,000.00"',
      '13/03/26,CHQ PAID,000123,13/03/26,"10,000.00",,"1,40,000.00"',
    ),
    {
      records: [
        {
          paymentDate: "2026-03-01",
          paymentAmount: 50_000,
          currencyCode: "INR",
          remittanceText: "NEFT ACME",
        },
      ],
      leftOut: 1,
    },
  ],
  [
    "a list of ING in German, with lines above the header and two columns of currencies",
    "cashapp",
    lines(
      "Umsatzanzeige;Datei erstellt am: 12.03.2026 10:00",
      "",
      "IBAN;DE01 5001 0517 1234 5678 90",
      "Saldo;10.000,00;EUR",
      "",
      "Buchung;Wertstellungsdatum;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung",
      "10.03.2026;11.03.2026;ACME GmbH;Gutschrift;RE 1001;10.000,00;EUR;1.250,50;EUR",
      "09.03.2026;09.03.2026;Vermieter;Lastschrift;Miete;8.749,50;EUR;-800,00;EUR",
    ),
    {
      records: [
        {
          paymentDate: "2026-03-10",
          paymentAmount: 1250.5,
          currencyCode: "EUR",
          payerName: "ACME GmbH",
          remittanceText: "Gutschrift RE 1001",
        },
      ],
      leftOut: 1,
    },
  ],
  [
    "a statement of Xero, of which checks alone have numbers",
    "cashapp",
    lines(
      "*Date,*Amount,Payee,Description,Reference,Check Number,Currency",
      "05/03/2026,1250.50,ACME,Invoice payment,INV-1001,,GBP",
      "13/03/2026,-80.00,Rent,Rent,,1002,GBP",
    ),
    {
      records: [
        {
          paymentDate: "2026-03-05",
          paymentAmount: 1250.5,
          payerName: "ACME",
          paymentReference: "INV-1001",
        },
      ],
      leftOut: 1,
    },
  ],
  [
    "invoices of Xero",
    "documents",
    lines(
      "ContactName,InvoiceNumber,Reference,InvoiceDate,DueDate,Total,InvoiceAmountPaid,InvoiceAmountDue,Currency,Type,Status",
      "ACME,INV-1001,PO 1,05/03/2026,19/03/2026,1250.50,370.50,880.00,GBP,Sales invoice,Awaiting Payment",
      "Beta,INV-1002,,13/03/2026,27/03/2026,980.00,0.00,980.00,GBP,Sales invoice,Awaiting Payment",
    ),
    {
      records: [
        {
          document_number: "INV-1001",
          account_number: "ACME",
          invoice_date: "2026-03-05",
          due_date: "2026-03-19",
          currency: "GBP",
          original_denomination: 1250.5,
          denomination: 880,
        },
        { document_number: "INV-1002", original_denomination: 980, denomination: 980 },
      ],
    },
  ],
  [
    "the activity of PayPal",
    "cashapp",
    lines(
      '"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","From Email Address","To Email Address","Transaction ID","Item Title","Item ID","Invoice Number","Balance"',
      '"03/05/2026","10:11:12","PST","ACME Inc","Express Checkout Payment","Completed","USD","1,250.50","-36.56","1,213.94","a@acme.example","me@shop.example","9AB12345CD","","","INV-1001","5,000.00"',
      '"03/16/2026","11:11:12","PST","ACME Inc","Payment Refund","Completed","USD","-250.50","6.56","-243.94","me@shop.example","a@acme.example","1ZZ12345CD","","","INV-1001","4,756.06"',
    ),
    {
      records: [
        {
          paymentId: "9AB12345CD",
          paymentDate: "2026-03-05",
          paymentAmount: 1250.5,
          currencyCode: "USD",
          documentNumber: "INV-1001",
        },
        { paymentId: "1ZZ12345CD", paymentDate: "2026-03-16", paymentAmount: -250.5 },
      ],
    },
  ],
  [
    "payouts of Stripe",
    "cashapp",
    lines(
      "id,Amount,Arrival Date (UTC),Balance Transaction,Created (UTC),Currency,Description,Destination,Method,Status,Type",
      "po_1,1250.50,2026-03-05 00:00,txn_1,2026-03-03 06:12,usd,STRIPE PAYOUT,ba_1,standard,paid,bank_account",
      "po_2,980.00,2026-03-06 00:00,txn_2,2026-03-04 06:12,usd,STRIPE PAYOUT,ba_1,standard,paid,bank_account",
    ),
    {
      records: [
        {
          paymentId: "po_1",
          paymentDate: "2026-03-05",
          paymentAmount: 1250.5,
          currencyCode: "USD",
        },
        { paymentId: "po_2", paymentDate: "2026-03-06", paymentAmount: 980 },
      ],
    },
  ],
  [
    "payments of Stripe as those of a portal",
    "iandp",
    lines(
      "id,Created date (UTC),Amount,Amount Refunded,Currency,Description,Status,Customer ID,Invoice ID",
      "ch_1,2026-03-05 10:21,1250.50,0.00,usd,Invoice 1001,Paid,cus_1,in_1",
    ),
    {
      records: [
        {
          paymentId: "ch_1",
          paymentDate: "2026-03-05",
          amountPaid: 1250.5,
          currencyCode: "USD",
          paymentStatus: "settled",
          invoiceNumber: "in_1",
        },
      ],
    },
  ],
  [
    "days that a spreadsheet saved as numbers",
    "cashapp",
    lines(
      "Payment No,Date,Customer,Amount,Currency",
      "1001,46082,ACME,100.00,USD",
      "1002,46083.75,Beta,200.50,USD",
    ),
    {
      records: [
        { paymentId: "1001", paymentDate: "2026-03-01", paymentAmount: 100 },
        { paymentId: "1002", paymentDate: "2026-03-02", paymentAmount: 200.5 },
      ],
    },
  ],
  [
    "columns of debits and credits in which a dash stands for nothing",
    "cashapp",
    lines(
      "Date,Text,Debit,Credit,Currency",
      "2026-03-05,ACME INV-1,-,100.00,USD",
      "2026-03-06,Rent,80.00,–,USD",
      "2026-03-07,Beta,$ -,50.00,USD",
    ),
    { records: [{ paymentAmount: 100 }, { paymentAmount: 50 }], leftOut: 1 },
  ],
];

describe("a map for an export of a known program", () => {
  verifies("MN-22");
  it.each(EXPORTS)("reads %s", async (_, kind, file, { records, leftOut = 0 }) => {
    const { map } = await suggest(kind, file);
    const read = await readTable(kind, file, map);
    expect(read.refused).toEqual([]);
    expect(read.records).toMatchObject(records);
    expect(read.leftOut).toHaveLength(leftOut);
  });

  it("reads days of a workbook that are plain numbers", async () => {
    const file = await workbook([
      ["Receipt No", "Date", "Amount", "Currency"],
      [1, 46_082, 10, "USD"],
    ]);
    const { map } = await suggest("cashapp", file);
    expect((await readTable("cashapp", file, map)).records).toMatchObject([
      { paymentId: "1", paymentDate: "2026-03-01", paymentAmount: 10 },
    ]);
  });

  it("refuses numbers of days that no calendar has", async () => {
    const file = lines(
      "paymentId,day,paymentAmount,currencyCode",
      "1,60,1.00,USD",
      "2,46082,1.00,USD",
      "3,2026-03-01,1.00,USD",
    );
    const map = {
      paymentId: "paymentId",
      paymentAmount: "paymentAmount",
      currencyCode: "currencyCode",
      paymentDate: { column: "day", date: "serial" },
    };
    const { records, refused } = await readTable("cashapp", file, map);
    expect(records).toMatchObject([{ paymentDate: "2026-03-01" }]);
    expect(refused).toHaveLength(2);
  });
});
