import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { describe, expect, it } from "vitest";
import { scan } from "../support/uploads/scan.ts";
import { hostilePdfs } from "../support/uploads/hostile-pdf.ts";
import { jpeg, pdfStream, png, wholePdf } from "../support/uploads/samples.ts";
import { verifies } from "../support/verifies.ts";

const available = { status: "Available", warnings: [] };

/** Creates a letter with two pages, a table, a picture and links. */
const letter = (options: ConstructorParameters<typeof PDFDocument>[0] = {}): Promise<Buffer> => {
  const document = new PDFDocument({
    info: { Title: "Objection (about a stream of obj)" },
    ...options,
  });
  document.text("Two pallets short", {
    link: "https://example.com/claims?id=4711",
    underline: true,
  });
  document.image(png(), { width: 20 }).addPage().text("Page two", { destination: "end" });
  document.outline.addItem("First");
  document.end();
  return buffer(document);
};

describe("check of PDF files", () => {
  it.each(["1.3", "1.4", "1.5", "1.7"] as const)(
    "accepts a PDF %s that a library wrote",
    async (pdfVersion) => {
      expect(await scan("a.pdf", await letter({ pdfVersion }))).toEqual(available);
      expect(await scan("a.pdf", await letter({ pdfVersion, compress: false }))).toEqual(available);
    },
  );

  it("accepts object streams with Flate, indirect lengths and other filters of page contents", async () => {
    const files = [
      wholePdf(pdfStream("9 0 << /Type /Font >>", true, "/Type /ObjStm /N 1 /First 4 ")),
      wholePdf("<< /Length 6 0 R >>\nstream\nBT ET\nendstream", "5"),
      wholePdf("<< /Length 5 /Filter /ASCIIHexDecode >>\nstream\n4254>\nendstream"),
      wholePdf(
        `<< /Length ${jpeg().byteLength} /Filter /DCTDecode >>\nstream\n${jpeg().toString("latin1")}\nendstream`,
      ),
      wholePdf(
        "<< /A << /S /URI /URI (mailto:ann@example.com) >> /B true /C [1 -.5 +2. 4 0 R] /D <0aF> >>",
      ),
    ];
    for (const file of files) expect(await scan("a.pdf", file)).toEqual(available);
  });

  verifies("C-94");
  it.each(hostilePdfs)("refuses $title", async ({ bytes, status, code }) => {
    expect(await scan("a.pdf", bytes)).toMatchObject({ status, failureReasons: [{ code }] });
  });

  verifies("C-94");
  it("refuses PDFs that a library encrypted with a password, or attached programs to", async () => {
    const locked = await letter({ userPassword: "x", pdfVersion: "1.7" });
    expect(await scan("a.pdf", locked)).toMatchObject({
      failureReasons: [{ code: "ENCRYPTED_ARCHIVE" }],
    });
    const restricted = await letter({ ownerPassword: "x", pdfVersion: "1.7" });
    expect(await scan("a.pdf", restricted)).toMatchObject({
      status: "Available",
      warnings: [{ code: "RESTRICTED_FILE" }],
    });
    const document = new PDFDocument();
    document.file(Buffer.from("x"), { name: "a.docm" });
    document.end();
    const bytes = await buffer(document);
    expect(await scan("a.pdf", bytes)).toMatchObject({
      failureReasons: [{ message: expect.stringContaining("a.docm: Programs and scripts") }],
    });
  });

  verifies("C-94");
  it("does not block the event loop while it reads", async () => {
    const large = wholePdf(...Array.from({ length: 20_000 }, (_, at) => `<< /Value ${at} >>`));
    await scan("a.pdf", wholePdf());
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    expect(await scan("a.pdf", large)).toEqual(available);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
  });
});
