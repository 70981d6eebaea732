import { expect, it, describe } from "vitest";
import type { ReadableType } from "../../src/mcp/files/port.ts";
import { readFileText } from "../../src/mcp/files/read-file.ts";
import {
  docxOf,
  paragraph,
  pdfOf,
  pdfWithPages,
  png,
  scannedPdf,
  tableOf,
  xlsxOf,
  zipOf,
} from "../support/readable-files.ts";
import { uuencoded } from "../support/uploads/samples.ts";
import { verifies } from "../support/verifies.ts";

type Bounds = { unit?: number; offset?: number; last?: number; tokens?: number; pictures?: number };

const read = (type: ReadableType, bytes: Uint8Array, bounds: Bounds = {}) => {
  const { unit = 1, offset = 0, last = null, tokens = 5000, pictures = 3 } = bounds;
  const request = { type, bytes: new Uint8Array(bytes), from: { unit, offset } };
  return readFileText({ ...request, last, tokens, pictures }, () => false);
};

const textOf = async (type: ReadableType, bytes: Uint8Array): Promise<string> =>
  (await read(type, bytes)).text.map(({ text }) => text).join("\n");

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

verifies("WK-20");
describe("the text of a PDF", () => {
  it("has each page, and goes on with the page that did not fit", async () => {
    const pages = [1, 2, 3, 4].map((page) => `Page ${page}. ${"Delivered in full. ".repeat(40)}`);
    const pdf = await pdfWithPages(pages);
    const first = await read(".pdf", pdf, { tokens: 700 });
    expect(first).toMatchObject({ unit: "page", total: 4, withoutText: [], pictures: [] });
    expect(first.text.map(({ page }) => page)).toEqual([1, 2]);
    expect(first.next).toEqual({ unit: 3, offset: 0 });
    const rest = await read(".pdf", pdf, { unit: 3, tokens: 700 });
    expect(rest.text.map(({ page }) => page)).toEqual([3, 4]);
    expect(rest.next).toBeNull();
    const one = await read(".pdf", pdf, { unit: 2, last: 2 });
    expect(one.text).toHaveLength(1);
    expect(one.text[0]?.text).toMatch(/^Page 2\./);
  });

  it("cuts a page only where it is the first of an answer, and goes on within it", async () => {
    const lines = Array.from({ length: 60 }, (_, line) => `Line ${line} of the page.`);
    const pdf = await pdfOf((document) => document.fontSize(8).text(lines.join("\n")));
    const shown: string[] = [];
    let offset = 0;
    for (;;) {
      const { text, next } = await read(".pdf", pdf, { offset, tokens: 200 });
      shown.push(text.map((piece) => piece.text).join(""));
      if (next === null) break;
      expect(next.unit).toBe(1);
      ({ offset } = next);
    }
    expect(shown.length).toBeGreaterThan(2);
    expect(
      shown
        .join("")
        .split("\n")
        .filter((line) => line !== ""),
    ).toEqual(lines);
  });

  it("draws pages without text, three in an answer", async () => {
    const { text, withoutText, pictures, next } = await read(".pdf", await scannedPdf(5));
    expect(text).toEqual([]);
    expect(withoutText).toEqual([1, 2, 3]);
    expect(pictures.map(({ page }) => page)).toEqual([1, 2, 3]);
    for (const { data, mimeType } of pictures) {
      expect(mimeType).toBe("image/jpeg");
      expect(data.slice(0, 2)).toEqual(Uint8Array.of(0xff, 0xd8));
    }
    expect(next).toEqual({ unit: 4, offset: 0 });
  });

  it("draws scanned pages with a stamp beside their text", async () => {
    const { text, withoutText, pictures, next } = await read(".pdf", await scannedPdf(4, "Fax 1"));
    expect(text.map((piece) => [piece.page, piece.text])).toEqual([
      [1, "Fax 1"],
      [2, "Fax 1"],
      [3, "Fax 1"],
    ]);
    expect(withoutText).toEqual([]);
    expect(pictures.map(({ page }) => page)).toEqual([1, 2, 3]);
    expect(next).toEqual({ unit: 4, offset: 0 });
    const rest = await read(".pdf", await scannedPdf(4, "Fax 1"), { unit: 4 });
    expect([rest.text.length, rest.pictures.length, rest.next]).toEqual([1, 1, null]);
    const excerpt = await read(".pdf", await scannedPdf(4, "Fax 1"), { pictures: 0 });
    expect([excerpt.text.length, excerpt.pictures]).toEqual([4, []]);
  });

  it("does not draw pages with a logo, or with a whole text over a picture", async () => {
    const logo = await pdfOf((document) => {
      document.image(png(), 0, 0, { width: 100 }).text("Invoice 4711", 200, 20);
    });
    expect((await read(".pdf", logo)).pictures).toEqual([]);
    const recognized = await scannedPdf(1, "Delivered in full. ".repeat(40));
    expect((await read(".pdf", recognized)).pictures).toEqual([]);
  });

  it("draws shapes, and says nothing of blank pages but that they have no text", async () => {
    const pdf = await pdfOf((document) => {
      document.rect(50, 50, 200, 200).fill("red");
      document.addPage();
    });
    const { withoutText, pictures } = await read(".pdf", pdf);
    expect(withoutText).toEqual([1, 2]);
    expect(pictures.map(({ page }) => page)).toEqual([1]);
  });

  it("has the values of form fields", async () => {
    const pdf = await pdfOf((document) => {
      document.initForm();
      document.formText("claim", 50, 50, 200, 20, { value: "Short delivery of 12" });
    });
    expect(await textOf(".pdf", pdf)).toBe("claim: Short delivery of 12");
  });
});

verifies("WK-20");
describe("the text of office files", () => {
  it("has paragraphs, tables, notes and headers of a Word document", async () => {
    const docx = await docxOf(
      `${paragraph("Proof of delivery")}${tableOf([
        ["Item", "Quantity"],
        ["Pump", "3"],
      ])}<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:delText>gone</w:delText></w:r></w:p>`,
      {
        "word/footnotes.xml": `<w:footnotes>${paragraph("See the bill of lading.")}</w:footnotes>`,
        "word/header1.xml": `<w:hdr>${paragraph("Carrier Ltd")}</w:hdr>`,
      },
    );
    expect((await read(".docx", docx)).text).toEqual([
      { part: "body", text: "Proof of delivery\nItem\tQuantity\nPump\t3\na\tb" },
      { part: "headers and footers", text: "Carrier Ltd" },
      { part: "notes", text: "See the bill of lading." },
    ]);
  });

  it("has the cells of each sheet with their range", async () => {
    const xlsx = await xlsxOf([
      {
        name: "Claims",
        rows: [
          ["Claim", "Day", "Amount", "Paid"],
          ["C-1", new Date(Date.UTC(2026, 0, 31)), 0.1 + 0.2, true],
          [],
          ["C-2", new Date(Date.UTC(2026, 1, 1, 10, 30)), -1204.5, null],
        ],
      },
      { name: "Second", rows: [["x"]] },
    ]);
    const { unit, total, text, next } = await read(".xlsx", xlsx);
    expect({ unit, total, next }).toEqual({ unit: "sheet", total: 2, next: null });
    expect(text).toEqual([
      {
        sheet: "Claims",
        range: "A1:D4",
        text: "Claim\tDay\tAmount\tPaid\nC-1\t2026-01-31\t0.3\tTRUE\n\nC-2\t2026-02-01 10:30\t-1204.5",
      },
      { sheet: "Second", range: "A1:A1", text: "x" },
    ]);
  });

  it("goes on at the row after the last one", async () => {
    const rows = Array.from({ length: 400 }, (_, row) => [`C-${row}`, row, "short delivery"]);
    const xlsx = await xlsxOf([{ name: "S", rows }]);
    const lines: string[] = [];
    let offset = 0;
    for (;;) {
      const { text, next } = await read(".xlsx", xlsx, { offset, tokens: 900 });
      lines.push(...(text[0]?.text ?? "").split("\n"));
      expect(text[0]?.range).toBe(`A${offset + 1}:C${lines.length}`);
      if (next === null) break;
      ({ offset } = next);
    }
    expect(lines).toEqual(rows.map((row) => row.join("\t")));
  });
});

verifies("WK-20");
describe("the text of mails and plain files", () => {
  const MAIL = [
    "From: =?utf-8?q?J=C3=BCrgen?= <j@customer.example>",
    "To: ar@seller.example",
    "Date: Sat, 31 Jan 2026 10:00:00 +0000",
    "Subject: Claim 4711",
    "Content-Type: multipart/mixed; boundary=x",
    "",
    "--x",
    "Content-Type: text/plain; charset=windows-1252",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "We were billed 10 =80 too much.",
    "--x",
    'Content-Type: application/pdf; name="proof.pdf"',
    "Content-Disposition: attachment",
    "Content-Transfer-Encoding: base64",
    "",
    "JVBERg==",
    "--x--",
    "",
  ].join("\r\n");

  it("has who wrote when, the body and the names of attachments of an e-mail", async () => {
    expect((await textOf(".eml", latin1(MAIL))).split("\n")).toEqual([
      "From: Jürgen <j@customer.example>",
      "To: ar@seller.example",
      "Date: 2026-01-31T10:00:00.000Z",
      "Subject: Claim 4711",
      "Attachments: proof.pdf (application/pdf, 4 bytes)",
      "",
      "We were billed 10 € too much.",
    ]);
  });

  it("names the files that an e-mail has in its text", async () => {
    const file = uuencoded("proof.pdf", Buffer.from("%PDF-1.7 and so on, for more than one line"));
    const mail = `From: a@b.example\r\n\r\nSee below.\r\n${file}Regards\r\nBegin 644 is a word.\r\n`;
    expect((await textOf(".eml", latin1(mail))).split("\n")).toEqual([
      "From: a@b.example",
      "Attachments: proof.pdf (in the text)",
      "",
      "See below.",
      "Regards",
      "Begin 644 is a word.",
    ]);
  });

  it("has the text of an e-mail in HTML", async () => {
    const html =
      "<style>p{}</style><p>Dear<br>all,</p><table><tr><td>A</td><td>1</td></tr></table><script>x</script>";
    const mail = `From: a@b.example\r\nContent-Type: text/html\r\n\r\n${html}`;
    expect(await textOf(".eml", latin1(mail))).toBe("From: a@b.example\n\nDear\nall,\n\nA\t1");
  });

  it.each([
    ["UTF-8", Buffer.from("grüß 10 €")],
    ["UTF-8 with a mark", Buffer.from("\ufeffgrüß 10 €")],
    ["UTF-16", Buffer.from("\ufeffgrüß 10 €", "utf16le")],
    ["UTF-16, big endian", Buffer.from("\ufeffgrüß 10 €", "utf16le").swap16()],
    ["UTF-16 without a mark", Buffer.from("grüß 10 €", "utf16le")],
    ["Windows-1252", Buffer.concat([latin1("grüß 10 "), Buffer.from([0x80])])],
  ])("is in the encoding that it has: %s", async (_name, bytes) => {
    expect(await textOf(".txt", bytes)).toBe("grüß 10 €");
  });

  it("leaves out what RTF does not show, and decodes its characters", async () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}{\*\generator X;}{\info{\title T}}
\f0 Proof\par 10 \'80, na\u239?ve\tab {\f1 \'cf\'ee}\cell\row{\pict\bin4 {{{{}end\~.}`;
    expect(await textOf(".rtf", latin1(rtf))).toBe("Proof\n10 €, naïve\tПо\t\nend\u00a0.");
  });

  it("lists what a ZIP archive has", async () => {
    const zip = await zipOf({ "claims/a.pdf": "12345", "b.txt": "" });
    expect((await textOf(".zip", zip)).split("\n")).toEqual([
      "2 files",
      expect.stringMatching(/^claims\/a\.pdf\t5 bytes\t2026-01-3/),
      expect.stringMatching(/^b\.txt\t0 bytes\t/),
    ]);
  });
});
