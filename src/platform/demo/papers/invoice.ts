import type { Address } from "../../../contract/ingest-fields.ts";
import { DAY } from "../../../kit/clock.ts";
import type { Account } from "../ledger/accounts.ts";
import type { Invoice } from "../ledger/invoices.ts";
import { dateOnly, workday } from "../moments.ts";
import { decimal } from "../money.ts";
import { OFFICES } from "../people.ts";
import { type Column, drawFacts, drawLetterhead, drawTable, type Page, renderPdf } from "./pdf.ts";

const COLUMNS: readonly Column[] = [
  { title: "Item", x: 54, width: 60 },
  { title: "Description", x: 118, width: 218 },
  { title: "Qty", x: 338, width: 40, right: true },
  { title: "Unit", x: 386, width: 28 },
  { title: "Price", x: 414, width: 60, right: true },
  { title: "Amount", x: 478, width: 80, right: true },
];

export const SELLER = "Demo Manufacturing Inc.";
const { dayton } = OFFICES;
export const SELLER_LINES: readonly string[] = [
  `${dayton.address1}, ${dayton.address2}`,
  `${dayton.city}, ${dayton.state} ${dayton.zip}, USA`,
  "ar@demo-manufacturing.example   +1 937 555 0112",
];

export const addressLines = ({ address1, city, state, zip, country }: Address): string[] =>
  [address1, [city, state, zip].filter((part) => part !== undefined).join(" "), country].filter(
    (line) => line !== undefined,
  );

const drawParty = (page: Page, x: number, title: string, { name, address }: Account): void => {
  page.font("Helvetica-Bold").fontSize(8.5).text(title, x, 150);
  page.font("Helvetica").text(name, { width: 230 });
  for (const line of addressLines(address)) page.text(line, { width: 230 });
};

const drawTotals = (
  page: Page,
  { account, lines, freightCents, taxCents, cents }: Invoice,
): void => {
  const goods = lines.reduce((sum, { lineCents }) => sum + lineCents, 0);
  const totals: [string, number][] = [
    ["Goods", goods],
    ...(freightCents === 0 ? [] : [["Freight", freightCents] satisfies [string, number]]),
    ...(taxCents === 0 ? [] : [["Tax", taxCents] satisfies [string, number]]),
    [`Total ${account.currency}`, cents],
  ];
  for (const [label, amount] of totals) {
    const { y } = page;
    page.font(label.startsWith("Total") ? "Helvetica-Bold" : "Helvetica").fontSize(9.5);
    page.text(label, 380, y, { width: 90, align: "right", lineBreak: false });
    page.text(decimal(amount), 478, y, { width: 80, align: "right", lineBreak: false });
    page.y = y + 15;
  }
};

/** The invoice as the customer got it. */
export const invoicePdf = (now: number, invoice: Invoice): Promise<Buffer> => {
  const { account, number, poNumber } = invoice;
  const { terms, parent } = account;
  const day = workday(now, invoice.ageDays);
  return renderPdf(`Invoice ${number}`, day, (page) => {
    drawLetterhead(page, SELLER, SELLER_LINES);
    page.font("Helvetica-Bold").fontSize(18).text("INVOICE", 380, 54);
    drawFacts(page, { x: 380, y: 80 }, [
      ["Number", number],
      ["Date", dateOnly(day)],
      ["Due", dateOnly(day + terms.days * DAY)],
      ["Terms", terms.name],
    ]);
    drawParty(page, 54, "Bill to", parent ?? account);
    drawParty(page, 300, "Ship to", account);
    drawFacts(page, { x: 54, y: 222 }, [
      ["Customer", account.number],
      ["Your order", poNumber ?? "by telephone"],
    ]);
    page.y = 268;
    drawTable(
      page,
      COLUMNS,
      invoice.lines.map((line) => [
        line.code,
        line.description,
        String(line.quantity),
        line.unit,
        decimal(line.cents),
        decimal(line.lineCents),
      ]),
    );
    drawTotals(page, invoice);
    page.font("Helvetica").fontSize(8.5);
    page.text(`Please name invoice ${number} with your payment.`, 54, page.y + 24);
  });
};
