import { csv, type Kind, type TableFile, windows1252, workbook } from "./import-tables.ts";

const day = (text: string): Date => new Date(`${text}T00:00:00Z`);

/** The records that a file has. */
export type Expected = {
  records: number;
  first: Record<string, unknown>;
  last?: Record<string, unknown>;
  leftOut?: string[];
};

const GERMAN_BANK = `Umsatzliste;;;;;
Konto: 12345;;;;;
Zeitraum: 01.03.2026 - 31.03.2026;;;;;

Buchungstag;Valuta;Auftraggeber;Verwendungszweck;Betrag;W\u00E4hrung
02.03.2026;02.03.2026;M\u00FCller GmbH;RE-1001;1.234,56;EUR
13.03.2026;13.03.2026;Stra\u00DFer KG;RE-1002;12,50;EUR
Summe;;;;1.247,06;
`;

const US_OPEN_ITEMS = `Open Items Report
As of 03/31/2026

Customer No,Invoice No.,Invoice Date,Due Date,Amount,Balance Due,Currency
C100,90001,02/13/2026,03/15/2026,"1,234.56","1,000.00",USD
C200,90002,03/01/2026,03/31/2026,50.00,50.00,USD
,,,,,,
Grand Total,,,,"1,284.56","1,050.00",
`;

/** Files of forms that programs and banks of several countries write, with made-up names and numbers. */
export const UNKNOWN_FILES: [
  title: string,
  kind: Kind,
  file: () => TableFile | Promise<TableFile>,
  Expected,
][] = [
  [
    "a German bank's list in Windows-1252",
    "cashapp",
    () => csv(GERMAN_BANK, windows1252),
    {
      records: 2,
      first: {
        paymentAmount: 1234.56,
        paymentDate: "2026-03-02",
        currencyCode: "EUR",
        payerName: "M\u00FCller GmbH",
      },
      last: { paymentAmount: 12.5, paymentDate: "2026-03-13" },
      leftOut: ["total"],
    },
  ],
  [
    "a German bank's list with debits and credits",
    "cashapp",
    () =>
      csv(
        "Buchungsdatum;Name;Soll;Haben;Referenz\r\n13.02.26;Alt AG;;1.000,00 \u20AC;X1\r\n14.02.26;Bank;3,50 \u20AC;;X2\r\n",
      ),
    {
      records: 1,
      first: {
        paymentId: "X1",
        paymentAmount: 1000,
        currencyCode: "EUR",
        paymentDate: "2026-02-13",
      },
      leftOut: ["debit"],
    },
  ],
  [
    "a bank's list with signs and two columns of text",
    "cashapp",
    () =>
      csv(
        "Buchungstag;Beguenstigter/Zahlungspflichtiger;Buchungstext;Verwendungszweck;Betrag;Waehrung\n28.02.26;Acme;GUTSCHRIFT;RE 1;1.234,56;EUR\n27.02.26;Haus KG;LASTSCHRIFT;Miete;-50,00;EUR\n26.02.26;Bolt;GUTSCHRIFT;RE 2;9,00;EUR\n",
        windows1252,
      ),
    {
      records: 2,
      first: { paymentAmount: 1234.56, remittanceText: "GUTSCHRIFT RE 1" },
      last: { paymentAmount: 9, paymentDate: "2026-02-26", payerName: "Bolt" },
      leftOut: ["debit"],
    },
  ],
  [
    "a French bank's list with the currency in words",
    "cashapp",
    () =>
      csv(
        "Date;Libell\u00E9;D\u00E9bit euros;Cr\u00E9dit euros;R\u00E9f\u00E9rence\n28/02/2026;VIR ACME;;1\u00A0234,56;R1\n13/03/2026;FRAIS;12,00;;R1\nTotal (EUR);;12,00;1\u00A0234,56;\n",
      ),
    {
      records: 1,
      first: { paymentAmount: 1234.56, paymentDate: "2026-02-28", paymentReference: "R1" },
      leftOut: ["debit", "total"],
    },
  ],
  [
    "an American register",
    "cashapp",
    () =>
      csv(
        'Check No,Date,Payer,Amount,Currency\n1001,2/13/2026,Acme Inc,"$1,234.56",USD\n1002,2/3/2026,Bolt LLC,($20.00),USD\n',
      ),
    {
      records: 2,
      first: { paymentId: "1001", paymentDate: "2026-02-13", paymentAmount: 1234.56 },
      last: { paymentDate: "2026-02-03", paymentAmount: -20 },
    },
  ],
  [
    "a British register in tabs",
    "cashapp",
    () =>
      csv(
        "Transaction ID\tPayment Date\tCustomer Name\tPayment Amount (GBP)\nT1\t13/02/2026\tAda & Co\t1,000.00\nT2\t05/02/2026\tBee Ltd\t7.25\n",
      ),
    {
      records: 2,
      first: {
        paymentId: "T1",
        paymentDate: "2026-02-13",
        paymentAmount: 1000,
        currencyCode: "GBP",
      },
      last: { paymentDate: "2026-02-05", paymentAmount: 7.25 },
    },
  ],
  [
    "a French bank's list with narrow spaces",
    "cashapp",
    () =>
      csv(
        "Date op\u00E9ration;Libell\u00E9;D\u00E9bit;Cr\u00E9dit;Devise\n13/02/2026;VIR DUPONT F-1;;1\u202F234,56;EUR\n14/02/2026;FRAIS;12,00;;EUR\n",
      ),
    {
      records: 1,
      first: { paymentAmount: 1234.56, paymentDate: "2026-02-13", currencyCode: "EUR" },
      leftOut: ["debit"],
    },
  ],
  [
    "a Spanish list",
    "cashapp",
    () =>
      csv(
        "Fecha;Ordenante;Referencia;Importe;Moneda\n13-ene-2026;Ib\u00E9rica SA;R-1;1.500,00;EUR\n20-ene-2026;Sol SL;R-2;2,00;EUR\nTotal;;;1.502,00;\n",
        windows1252,
      ),
    {
      records: 2,
      first: { paymentId: "R-1", paymentAmount: 1500, paymentDate: "2026-01-13" },
      leftOut: ["total"],
    },
  ],
  [
    "an Italian list",
    "cashapp",
    () =>
      csv(
        "Data valuta;Ordinante;Riferimento;Dare;Avere\n13/02/2026;Rossi Srl;A1;;1.000,50\n14/02/2026;Banca;A2;5,00;\n",
      ),
    {
      records: 1,
      first: { paymentId: "A1", paymentAmount: 1000.5, paymentDate: "2026-02-13" },
      leftOut: ["debit"],
    },
  ],
  [
    "a Dutch bank's list with a mark of the sign",
    "cashapp",
    () =>
      csv(
        "Boekdatum;Naam tegenpartij;Kenmerk;Af Bij;Bedrag\n20260213;De Vries BV;K1;Bij;1000,50\n20260214;Bank;K2;Af;3,00\n",
      ),
    {
      records: 1,
      first: { paymentId: "K1", paymentAmount: 1000.5, paymentDate: "2026-02-13" },
      leftOut: ["debit"],
    },
  ],
  [
    "a Swiss list with apostrophes",
    "cashapp",
    () =>
      csv(
        "Valutadatum;Zahler;Zahlungsreferenz;Betrag CHF\n13.02.2026;Berg AG;Z1;1'234.50\n14.02.2026;Tal AG;Z2;20.00\n",
      ),
    { records: 2, first: { paymentId: "Z1", paymentAmount: 1234.5, currencyCode: "CHF" } },
  ],
  [
    "a statement with DR and CR behind amounts",
    "cashapp",
    () =>
      csv(
        'Value Date,Reference,Payer,Amount,Ccy\n13-Feb-26,Q1,Acme,"1,234.56 CR",USD\n14-Feb-26,Q2,Bank,10.00 DR,USD\n',
      ),
    {
      records: 1,
      first: { paymentId: "Q1", paymentAmount: 1234.56, paymentDate: "2026-02-13" },
      leftOut: ["debit"],
    },
  ],
  [
    "a register with an amount per document",
    "cashapp",
    () =>
      csv(
        "Check Number,Check Date,Payment Date,Invoice,Amount Paid,Currency\n55,x,2026-03-02,INV-1,300.00,USD\n55,x,2026-03-02,INV-2,450.00,USD\n56,x,2026-03-03,INV-3,5.00,USD\n",
      ),
    {
      records: 3,
      first: { paymentId: "55", paymentAmount: 750, appliedAmount: 300, documentNumber: "INV-1" },
      last: { paymentId: "56", paymentAmount: 5 },
    },
  ],
  [
    "a portal's export with timestamps",
    "iandp",
    () =>
      csv(
        "Transaction Number|Payment Date|Invoice Number|Amount Paid|Currency|Confirmation Number\n9|2026-06-30T21:15:00-07:00|I-1|100.00|USD|C-9\n",
      ),
    {
      records: 1,
      first: { paymentId: "9", amountPaid: 100, invoiceNumber: "I-1", confirmationNumber: "C-9" },
    },
  ],
  [
    "a network's list",
    "bpn",
    () =>
      csv(
        "Payment Number,Payment Date,Payer Name,Payment Amount,Currency,Trace\nN1,01/31/2026,Acme,10.00,USD,T1\n",
      ),
    {
      records: 1,
      first: {
        networkPaymentId: "N1",
        paymentAmount: 10,
        paymentDate: "2026-01-31",
        traceNumber: "T1",
      },
    },
  ],
  [
    "a workbook with lines above the header",
    "cashapp",
    () =>
      workbook([
        ["Zahlungen M\u00E4rz"],
        [null],
        ["Zahlungsnummer", "Zahlungsdatum", "Zahler", "Betrag", "W\u00E4hrung"],
        ["P1", day("2026-03-01"), "Alt AG", 0.1 + 0.2, "EUR"],
        ["P2", day("2026-03-31"), "Neu AG", 20.5, "EUR"],
        ["Summe", null, null, 20.8, null],
      ]),
    {
      records: 2,
      first: {
        paymentId: "P1",
        paymentDate: "2026-03-01",
        paymentAmount: 0.3,
        currencyCode: "EUR",
      },
      last: { paymentDate: "2026-03-31", paymentAmount: 20.5 },
      leftOut: ["total"],
    },
  ],
  [
    "an American list of open items with lines around it",
    "documents",
    () => csv(US_OPEN_ITEMS),
    {
      records: 2,
      first: {
        document_number: "90001",
        account_number: "C100",
        invoice_date: "2026-02-13",
        due_date: "2026-03-15",
        original_denomination: 1234.56,
        denomination: 1000,
        currency: "USD",
      },
      leftOut: ["total"],
    },
  ],
  [
    "a German list of open items with types",
    "documents",
    () =>
      csv(
        "Belegnummer;Belegart;Debitor;Belegdatum;F\u00E4lligkeit;Betrag;Bezugsrechnung\nR1;RE;100;13.02.2026;15.03.2026;1.190,00;\nG1;GU;100;14.02.2026;16.03.2026;-190,00;R1\n",
        windows1252,
      ),
    {
      records: 2,
      first: { document_number: "R1", document_type: "invoice", denomination: 1190 },
      last: { document_type: "credit_note", denomination: -190, applies_to_invoice: "R1" },
    },
  ],
  [
    "a ledger with debit and credit columns",
    "documents",
    () =>
      csv(
        "Doc No,Customer ID,Document Date,Due Date,Debit,Credit\nD1,C1,2026-01-31,2026-02-28,100.00,\nD2,C1,2026-01-31,2026-02-28,,40.00\n",
      ),
    { records: 2, first: { denomination: 100 }, last: { denomination: -40 } },
  ],
  [
    "a French list of invoices in a workbook",
    "documents",
    () =>
      workbook([
        [
          "N\u00B0 facture",
          "Code client",
          "Date facture",
          "Date d'\u00E9ch\u00E9ance",
          "Montant TTC",
          "Reste \u00E0 payer",
        ],
        ["F-1", "C1", day("2026-02-01"), day("2026-03-01"), 1200, 200.5],
      ]),
    {
      records: 1,
      first: {
        document_number: "F-1",
        invoice_date: "2026-02-01",
        original_denomination: 1200,
        denomination: 200.5,
      },
    },
  ],
  [
    "a list of customers",
    "accounts",
    () =>
      csv(
        "Kundennummer;Firma;Stra\u00DFe;PLZ;Ort;Land;E-Mail;Kreditlimit;W\u00E4hrung\n0100;M\u00FCller GmbH;Weg 1;01067;Dresden;DE;a@b.example;10.000,00;EUR\n",
        windows1252,
      ),
    {
      records: 1,
      first: {
        account_number: "0100",
        name: "M\u00FCller GmbH",
        credit_limit: 10_000,
        billing_address: { address1: "Weg 1", zip: "01067", city: "Dresden", country: "DE" },
      },
    },
  ],
  [
    "a Spanish list of customers",
    "accounts",
    () =>
      csv(
        "C\u00F3digo cliente,Raz\u00F3n social,NIF,Tel\u00E9fono\nC-1,Ib\u00E9rica SA,B123,+34 1\n",
      ),
    {
      records: 1,
      first: { account_number: "C-1", name: "Ib\u00E9rica SA", vat: "B123", phone: "+34 1" },
    },
  ],
  [
    "a list of deductions",
    "disputes",
    () =>
      csv(
        'Customer No.,Invoice No.,Deduction Amount,Currency,Reason Code,Created\nC1,I1,"1,100.00",USD,SHORT,03/13/2026\n',
      ),
    {
      records: 1,
      first: {
        accountNumber: "C1",
        documentNumber: "I1",
        amount: 1100,
        reasonCode: "SHORT",
        categoryCode: "IMPORTED",
      },
    },
  ],
  [
    "a German list of complaints",
    "disputes",
    () =>
      csv(
        "Debitor;Rechnungsnr.;Reklamationsbetrag;Reklamationsgrund;Reklamationsdatum\n100;R1;12,50;Preis;13.03.2026\n",
      ),
    {
      records: 1,
      first: { accountNumber: "100", amount: 12.5, reasonCode: "Preis", createDate: "2026-03-13" },
    },
  ],
];
