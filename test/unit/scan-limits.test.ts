import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, inject, it } from "vitest";
import { extentOf } from "../support/extent.ts";
import { jpeg, mail, mp4, pdfStream, png, wholePdf, xlsx } from "../support/uploads/samples.ts";
import { scan } from "../support/uploads/scan.ts";
import { zip } from "../support/uploads/zip.ts";
import { ROOT } from "../support/sources.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;
const available = { status: "Available" };

const workbook = (rows: number): Buffer => {
  const cells = (row: number): string =>
    Array.from({ length: 8 }, (_, at) => `<c r="A${row}"><v>${row * at}</v></c>`).join("");
  const data = Array.from({ length: rows }, (_, row) => `<row r="${row}">${cells(row)}</row>`);
  const xml = `<worksheet><sheetData>${data.join("")}</sheetData></worksheet>`;
  return xlsx([{ name: "xl/worksheets/sheet1.xml", data: xml }]);
};

const pages = (count: number): Buffer =>
  wholePdf(
    ...Array.from({ length: count }, (_, at) => [
      "<< /Type /Page /Parent 2 0 R /Annots [<< /A << /S /URI /URI (https://example.com) >> >>] >>",
      pdfStream(`BT (Page ${at}) Tj ET`.repeat(20)),
    ]).flat(),
  );

const LARGE: [title: string, name: string, create: () => Buffer][] = [
  ["a PDF of 3,000 pages", "a.pdf", () => pages(3000)],
  ["a workbook of 150,000 rows", "a.xlsx", () => workbook(150_000)],
  [
    "a mail of 46 MB",
    "a.eml",
    () => mail({ name: "a.jpg", data: Buffer.concat([jpeg(), randomBytes(34 * MIB)]) }),
  ],
];

describe("limits of a scan", () => {
  verifies("FL-01");
  it.each(LARGE.slice(0, extentOf(1, LARGE.length)))(
    "accepts %s",
    { timeout: 120_000 },
    async (_title, name, create) => {
      expect(await scan(name, create())).toMatchObject(available);
    },
  );

  verifies("FL-01", "FL-02");
  it("counts nested archives together", async () => {
    const inner = zip([{ name: "a.txt", data: Buffer.alloc(900 * 1024, 0x61) }]);
    const many = Array.from({ length: 40 }, (_, at) => ({ name: `${at}.zip`, data: inner }));
    expect(await scan("a.zip", zip(many))).toMatchObject({
      failureReasons: [{ code: "ARCHIVE_LIMIT" }],
    });
  });

  verifies("FL-01");
  it("bounds what a stream of objects unpacks to", { timeout: 60_000 }, async () => {
    const data = deflateSync(Buffer.alloc(200 * MIB, 0x20)).toString("latin1");
    const bytes = wholePdf(
      `<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length ${data.length} >>\nstream\n${data}\nendstream`,
    );
    expect(await scan("a.pdf", bytes)).toMatchObject({
      failureReasons: [{ code: "ARCHIVE_LIMIT" }],
    });
  });

  verifies("FL-01");
  it.runIf(inject("runsWholeSeries"))(
    "refuses a file that takes too long, while others are scanned",
    { timeout: 90_000 },
    async () => {
      // The parser looks for the end of each stream up to the end of the file.
      const slow = Buffer.concat([
        Buffer.from("%PDF-1.7\n"),
        ...Array.from({ length: 60_000 }, (_, at) => Buffer.from(`${at} 0 obj<<>>stream stream\n`)),
      ]);
      const waiting = scan("slow.pdf", slow);
      expect(await scan("a.pdf", wholePdf())).toMatchObject(available);
      expect(await waiting).toMatchObject({
        status: "Rejected",
        failureReasons: [{ code: "ARCHIVE_LIMIT", message: expect.stringContaining("seconds") }],
      });
    },
  );

  verifies("FL-06");
  it("accepts pictures and films by their type alone", async () => {
    const cut = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length - 4);
    expect(await scan("a.png", cut(png()))).toMatchObject(available);
    expect(await scan("a.jpeg", cut(jpeg()))).toMatchObject(available);
    expect(await scan("a.mp4", cut(mp4()))).toMatchObject(available);
    expect(await scan("a.png", jpeg())).toMatchObject({ status: "Rejected" });
  });

  verifies("FL-07");
  it("has at most 1,400 lines, and says what it is not", () => {
    const folder = join(ROOT, "src/platform/scan");
    const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => readFileSync(join(folder, path), "utf8"));
    expect(texts.join("").split("\n").length - 1).toBeLessThanOrEqual(1400);
    const operations = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
    expect(operations).toContain("clamd is the malware check");
  });
});
