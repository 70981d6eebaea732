import type { Case } from "../cases.ts";
import { dateOnly, workday } from "../moments.ts";
import { addressLines, SELLER } from "./invoice.ts";
import { type Column, drawFacts, drawLetterhead, drawTable, renderPdf } from "./pdf.ts";

const COLUMNS: readonly Column[] = [
  { title: "Item", x: 54, width: 70 },
  { title: "Description", x: 130, width: 250 },
  { title: "Shipped", x: 384, width: 70, right: true },
  { title: "Received", x: 470, width: 80, right: true },
];

const CARRIER = "Buckeye Regional Freight";
const DAYS_UNDERWAY = 4;

/** What the driver had signed at the customer's dock; short by what the claim says. */
export const deliveryReceipt = (now: number, { invoice, cents, reason }: Case): Promise<Buffer> => {
  const { account, lines, number } = invoice;
  const day = workday(now, Math.max(0, invoice.ageDays - DAYS_UNDERWAY));
  const received = reason.code === "SHORT-SHIP" ? 1 - cents / invoice.cents : 1;
  return renderPdf(`Delivery receipt ${number}`, day, (page) => {
    drawLetterhead(page, CARRIER, ["Terminal 4, Dayton OH", "dispatch@buckeye-regional.example"]);
    page.font("Helvetica-Bold").fontSize(16).text("DELIVERY RECEIPT", 360, 54);
    drawFacts(page, { x: 360, y: 80 }, [
      ["Shipper", SELLER],
      ["Invoice", number],
      ["Delivered", dateOnly(day)],
    ]);
    page.font("Helvetica-Bold").fontSize(8.5).text("Consignee", 54, 150);
    page.font("Helvetica").text(account.name);
    for (const line of addressLines(account.address)) page.text(line);
    page.y = 230;
    drawTable(
      page,
      COLUMNS,
      lines.map(({ code, description, quantity, unit }) => [
        code,
        description,
        `${quantity} ${unit}`,
        `${Math.max(0, Math.floor(quantity * received))} ${unit}`,
      ]),
    );
    const { y } = page;
    const signer = account.contacts[0];
    page.font("Helvetica-Oblique").fontSize(18).fillColor("#26386b");
    page.text(signer === undefined ? "" : `${signer.firstName} ${signer.lastName}`, 60, y + 40);
    page
      .moveTo(54, y + 64)
      .lineTo(260, y + 64)
      .lineWidth(0.5)
      .stroke("#444444");
    page.font("Helvetica").fontSize(8.5).fillColor("#000000");
    page.text(received < 1 ? "Received short, see above" : "Received in good order", 54, y + 70);
  });
};
