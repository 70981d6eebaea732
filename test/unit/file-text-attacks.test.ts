import { describe, expect, inject, it } from "vitest";
import { type ReadableType, Unreadable } from "../../src/mcp/files/port.ts";
import { readInThread } from "../../src/mcp/files/thread.ts";
import {
  docxOf,
  paragraph,
  pdfOf,
  pdfPage,
  pdfWithPages,
  streamOf,
  xlsxOf,
  zipOf,
} from "../support/readable-files.ts";
import { verifies } from "../support/verifies.ts";

type More = { unit?: number; offset?: number };

const read = (type: ReadableType, bytes: Uint8Array, { unit = 1, offset = 0 }: More = {}) =>
  readInThread({ type, bytes, from: { unit, offset }, last: null, tokens: 5000, pictures: 3 });

/** Reads a file, and returns why it cannot be read. */
const refusalOf = async (type: ReadableType, bytes: Uint8Array): Promise<string> =>
  read(type, bytes).then(
    ({ notes }) => `read: ${notes.join()}`,
    (error: unknown) => (error instanceof Unreadable ? error.message : `failed: ${String(error)}`),
  );

const LONG = 60_000;
const isWhole = inject("runsWholeSeries");

type Case = [name: string, type: ReadableType, make: () => Buffer | Promise<Buffer>, why: RegExp];

const COSTLY: Case[] = [
  [
    "a Word document that unpacks to 270 MB",
    ".docx",
    () => docxOf(paragraph("a".repeat(270_000_000))),
    /unpacks to over 256 MiB/,
  ],
  [
    "a Word document with elements nested 100,000 deep",
    ".docx",
    () => docxOf("<w:p>".repeat(100_000)),
    /nested too deep/,
  ],
  ["a Word document with a document type", ".docx", () => docxOf("&lol;"), /no XML/],
  [
    "mail with parts within parts",
    ".eml",
    () =>
      Buffer.from(
        Array.from(
          { length: 5000 },
          (_, depth) => `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`,
        ).join(""),
      ),
    /no e-mail that can be read/,
  ],
  [
    "RTF with a million groups",
    ".rtf",
    () => Buffer.from(`{\\rtf1${"{".repeat(1_000_000)}`),
    /nested too deep/,
  ],
  [
    "a PDF whose page unpacks to 700 MB",
    ".pdf",
    () => pdfPage(Buffer.alloc(700_000_000, " ")),
    /damaged|memory|takes over/,
  ],
  [
    "a PDF with a page of three million words",
    ".pdf",
    () => pdfPage(Buffer.from("BT /F 9 Tf (a) Tj 0 -1 Td ET\n".repeat(3_000_000))),
    /damaged|memory|takes over/,
  ],
  [
    "mail in HTML nested a million deep",
    ".eml",
    () => Buffer.from(`Content-Type: text/html\r\n\r\n${"<div>".repeat(1_000_000)}`),
    /nested too deep|takes over/,
  ],
];

verifies("WK-21");
describe("a file that would take too much is refused, and says why", () => {
  it.each(COSTLY)(
    "%s",
    async (_name, type, make, reason) => {
      expect(await refusalOf(type, await make())).toMatch(reason);
    },
    LONG,
  );

  it.each<Case>([
    [
      "a PDF with a password",
      ".pdf",
      () => pdfOf((document) => document.text("x"), { userPassword: "secret" }),
      /encrypted and needs a password/,
    ],
    ["what is no PDF", ".pdf", () => Buffer.from("no PDF"), /damaged, or it is no PDF/],
    ["what is no ZIP", ".docx", () => Buffer.from("PK no"), /damaged, or its contents/],
    [
      "a ZIP of 10,001 files",
      ".zip",
      () => zipOf(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`f${at}`, ""]))),
      /10001 parts; 10000 are read at most/,
    ],
    ["a ZIP that is no workbook", ".xlsx", () => zipOf({ a: "b" }), /no workbook/],
    [
      "an Office file with a password",
      ".docx",
      () => Buffer.from("d0cf11e0a1b11ae1", "hex"),
      /has a password/,
    ],
    ["an empty file", ".txt", () => Buffer.alloc(0), /is empty/],
  ])("%s", async (_name, type, make, reason) => {
    expect(await refusalOf(type, await make())).toMatch(reason);
  });

  it("does not decode an image of 400 million pixels", async () => {
    const entries =
      "/Type/XObject/Subtype/Image/Width 20000/Height 20000/ColorSpace/DeviceGray/BitsPerComponent 8";
    const image = streamOf(Buffer.alloc(20_000), entries);
    const page = pdfPage(Buffer.from("q 600 0 0 700 0 0 cm /I Do Q"), "/XObject<</I 6 0 R>>", [
      image,
    ]);
    const { withoutText, pictures, notes } = await read(".pdf", page);
    expect({ withoutText, pictures }).toEqual({ withoutText: [1], pictures: [] });
    expect(notes.join()).toContain("its images are too large");
  });
});

verifies("WK-21");
describe("a large file is read in part", () => {
  it.runIf(isWhole)(
    "3,000 pages from any page on",
    async () => {
      const pages = Array.from({ length: 3000 }, (_, page) => `This is page ${page + 1}.`);
      const pdf = await pdfWithPages(pages);
      const { total, text } = await read(".pdf", pdf, { unit: 2900 });
      expect(total).toBe(3000);
      expect(text[0]).toEqual({ page: 2900, text: "This is page 2900." });
    },
    LONG,
  );

  it.runIf(isWhole)(
    "150,000 rows from any row on",
    async () => {
      const rows = Array.from({ length: 150_000 }, (_, row) => [`C-${row}`, row, "short delivery"]);
      const xlsx = await xlsxOf([{ name: "Claims", rows }]);
      const first = await read(".xlsx", Buffer.from(xlsx));
      expect(first.text[0]?.text).toMatch(/^C-0\t0\tshort delivery\n/);
      const late = await read(".xlsx", xlsx, { offset: 149_998 });
      expect(late.text[0]?.range).toBe("A149999:C150000");
    },
    LONG,
  );

  it(
    "the event loop stays free",
    async () => {
      const mail = Buffer.from(
        `From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nHello\r\n--x\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${"QUJD".repeat(19)}\r\n`.repeat(150_000)}--x--\r\n`,
      );
      const reading = read(".eml", mail);
      let ticks = 0;
      const timer = setInterval(() => (ticks += 1), 5);
      const { text } = await reading;
      clearInterval(timer);
      expect(text[0]?.text).toContain("Hello");
      expect(ticks).toBeGreaterThan(5);
    },
    LONG,
  );
});
