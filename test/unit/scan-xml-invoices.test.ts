import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { describe, expect, it } from "vitest";
import { scan } from "../support/uploads/scan.ts";
import { pdfStream } from "../support/uploads/samples.ts";
import {
  hostileInvoices,
  invoicePdf,
  invoiceXml,
  packedInvoicePdf,
  SPECIFICATION,
} from "../support/uploads/xml-invoices.ts";
import { verifies } from "../support/verifies.ts";

const available = { status: "Available", warnings: [] };

const UBL = `<?xml version="1.0"?>\n<!-- UBL --><Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>1</ID></Invoice>`;

describe("PDF files with the XML of an invoice", () => {
  it.each([
    ["Factur-X", invoicePdf()],
    ["UBL", invoicePdf({ xml: UBL })],
    [
      "a stream that is not compressed",
      invoicePdf({ stream: pdfStream(invoiceXml(), false, "/Type /EmbeddedFile ") }),
    ],
    ["a file specification in an object stream", packedInvoicePdf()],
    ["a file specification in an object stream as it is", packedInvoicePdf(SPECIFICATION, false)],
    [
      "a name with escapes",
      invoicePdf({ specification: SPECIFICATION.replace("factur-x", "factur\\055x \\(1\\)") }),
    ],
  ])("are accepted: %s", async (_what, bytes) => {
    expect(await scan("a.pdf", bytes)).toEqual(available);
  });

  it.each(["1.4", "1.7"] as const)(
    "are accepted as a library writes PDF %s",
    async (pdfVersion) => {
      const document = new PDFDocument({ pdfVersion });
      document.text("Invoice");
      const options = { name: "factur-x.xml", type: "text/xml", relationship: "Alternative" };
      document.file(Buffer.from(invoiceXml()), options);
      document.end();
      expect(await scan("a.pdf", await buffer(document))).toEqual(available);
    },
  );

  verifies("C-94");
  it.each(hostileInvoices)("are refused with more than that: $title", async ({ bytes, code }) => {
    expect(await scan("a.pdf", bytes)).toMatchObject({
      status: "Rejected",
      failureReasons: [{ code }],
    });
  });
});
