import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { convertSerial } from "../../src/kit/xlsx/serial-days.ts";
import { describeFormat } from "../../src/kit/xlsx/formats.ts";
import { readTable, type TableFile, workbook } from "../support/import-tables.ts";
import { verifies } from "../support/verifies.ts";

const PAYMENT = "paymentId,paymentDate,currencyCode,paymentAmount,payerName,documentNumber";

/** Packs parts of a workbook. */
const pack = async (parts: Record<string, string>): Promise<TableFile> => {
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(parts)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  return { format: "xlsx", bytes: await buffer(zip.outputStream) };
};

const RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relations = (...targets: [type: string, target: string][]) =>
  `<Relationships>${targets.map(([type, target], place) => `<Relationship Id="r${place + 1}" Type="${RELATION}/${type}" Target="${target}"/>`).join("")}</Relationships>`;

/** A workbook with a first blank sheet, one of payments, and styles: plain, date, a custom date, digits, time. */
const payments = (cells: string, { date1904 = "0", extra = "" } = {}) =>
  pack({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": relations(["officeDocument", "xl/workbook.xml"]),
    "xl/workbook.xml": `<x:workbook xmlns:x="m" xmlns:r="r"><x:workbookPr date1904="${date1904}"/><x:sheets><x:sheet name="Hidden" state="hidden" r:id="r2"/><x:sheet name="Blank" r:id="r1"/><x:sheet name="Payments" r:id="r2"/></x:sheets></x:workbook>`,
    "xl/_rels/workbook.xml.rels": relations(
      ["worksheet", "worksheets/a.xml"],
      ["worksheet", "/xl/worksheets/b.xml"],
      ["sharedStrings", "s.xml"],
      ["styles", "st.xml"],
    ),
    "xl/s.xml": `<sst><si><r><t>Al</t></r><r><t>pha</t></r><rPh><t>x</t></rPh></si></sst>`,
    "xl/st.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-407]d. mmm yy&quot;h&quot;"/><numFmt numFmtId="165" formatCode="000000"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
    "xl/worksheets/a.xml":
      "<worksheet><sheetData><row r='1'><c r='A1'/></row></sheetData></worksheet>",
    "xl/worksheets/b.xml": `<worksheet><sheetData><row r="1">${PAYMENT.split(",")
      .map((name, place) => `<c r="${"ABCDEF"[place]}1" t="inlineStr"><is><t>${name}</t></is></c>`)
      .join("")}</row>${cells}</sheetData>${extra}</worksheet>`,
  });

const row = (number: number, ...cells: string[]) => `<row r="${number}">${cells.join("")}</row>`;
const USD = '<c r="C2" t="str"><f>x</f><v>USD</v></c>';

describe("a workbook", () => {
  verifies("MN-20");
  it("has exact numbers, written days, shown digits and cached values of formulas", async () => {
    const file = await payments(
      row(
        2,
        '<c r="A2" s="3"><v>123</v></c><c r="B2" s="1"><v>46082</v></c>',
        USD,
        '<c r="D2"><f>A1</f><v>20.499999999999996</v></c><c r="E2" t="s"><v>0</v></c><c r="F2"><v>4711</v></c>',
      ) +
        row(
          3,
          '<c t="inlineStr"><is><t>P2</t></is></c><c s="2"><v>46112.75</v></c><c t="str"><v>USD</v></c><c><v>1E-2</v></c>',
        ) +
        row(
          4,
          '<c r="A4" t="str"><v>P3</v></c><c r="B4" t="d"><v>2026-03-31T00:00:00</v></c><c r="C4" t="str"><v>USD</v></c><c r="D4"><v>1000</v></c>',
        ),
    );
    const { records, layout, refused } = await readTable("cashapp", file);
    expect(refused).toEqual([]);
    expect(layout).toEqual({ sheet: "Payments", header: 1 });
    expect(records).toEqual([
      {
        paymentId: "000123",
        paymentDate: "2026-03-01",
        currencyCode: "USD",
        paymentAmount: 20.5,
        payerName: "Alpha",
        documentNumber: "4711",
      },
      { paymentId: "P2", paymentDate: "2026-03-31", currencyCode: "USD", paymentAmount: 0.01 },
      { paymentId: "P3", paymentDate: "2026-03-31", currencyCode: "USD", paymentAmount: 1000 },
    ]);
  });

  it("counts days from 1904 if it says so", async () => {
    const cells = row(
      2,
      '<c r="A2" t="str"><v>P</v></c><c r="B2" s="1"><v>44620</v></c>',
      USD,
      '<c r="D2"><v>1</v></c>',
    );
    const { records } = await readTable("cashapp", await payments(cells, { date1904: "1" }));
    expect(records).toMatchObject([{ paymentDate: "2026-03-01" }]);
  });

  it("refuses errors, formulas without a value, and numbers that have lost digits", async () => {
    const file = await payments(
      row(
        2,
        '<c r="A2" t="str"><v>P</v></c><c r="B2" s="1"><v>46082</v></c>',
        USD,
        '<c r="D2" t="e"><v>#N/A</v></c>',
      ) +
        row(
          3,
          '<c r="A3"><v>1000200030004000</v></c><c r="B3" s="1"><v>46082</v></c>',
          USD.replace("C2", "C3"),
          '<c r="D3"><f>A1</f></c>',
        ),
    );
    const { refused } = await readTable("cashapp", file);
    expect(refused).toEqual([
      'paymentAmount must be a value, not an error (column "paymentAmount", value "#N/A")',
      expect.stringMatching(/^paymentId has lost digits/),
      expect.stringMatching(
        /^paymentAmount must be a value, not an error .*formula without a value/,
      ),
    ]);
  });

  it("takes the sheet of the map, and days in a column with a pattern for texts", async () => {
    const cells =
      row(
        2,
        '<c r="A2" t="str"><v>P</v></c><c r="B2" s="1"><v>46085</v></c>',
        USD,
        '<c r="D2"><v>1.5</v></c>',
      ) +
      row(
        3,
        '<c r="A3" t="str"><v>Q</v></c><c r="B3" t="str"><v>04.03.2026</v></c>',
        USD.replace("C2", "C3"),
        '<c r="D3" t="str"><v>1.000,5</v></c>',
      );
    const map = {
      number: { decimal: "," },
      paymentId: "paymentId",
      paymentDate: { column: "paymentDate", date: "D.M.YYYY" },
      currencyCode: "currencyCode",
      paymentAmount: "paymentAmount",
    };
    const file = await payments(cells);
    const { records } = await readTable("cashapp", file, { ...map, sheet: "Hidden" });
    expect(records).toMatchObject([
      { paymentDate: "2026-03-04", paymentAmount: 1.5 },
      { paymentDate: "2026-03-04", paymentAmount: 1000.5 },
    ]);
    await expect(readTable("cashapp", file, { ...map, sheet: "None" })).rejects.toThrow(
      /no sheet None, but Blank, Payments/,
    );
  });

  it("is refused in another form, damaged, or with a bomb inside", async () => {
    const of = (bytes: Buffer | string): TableFile => ({
      format: "xlsx",
      bytes: Buffer.from(bytes),
    });
    await expect(readTable("cashapp", of(Buffer.from("d0cf11e0a1b11ae1", "hex")))).rejects.toThrow(
      /old binary form/,
    );
    await expect(readTable("cashapp", of("a,b\n"))).rejects.toThrow(/no ZIP archive/);
    await expect(readTable("cashapp", of("PK\u0003\u0004"))).rejects.toThrow(/damaged/);
    await expect(readTable("cashapp", await pack({ "a.txt": "x" }))).rejects.toThrow(
      /without a workbook/,
    );
    const { bytes } = await payments(row(2, "<c><v>1</v></c>"));
    await expect(readTable("cashapp", of(bytes.subarray(0, bytes.length / 2)))).rejects.toThrow(
      /damaged/,
    );
    const bomb = await payments(row(2, "<c><v>1</v></c>"), { extra: " ".repeat(40_000_000) });
    await expect(readTable("cashapp", bomb)).rejects.toThrow(/unpacks to too many bytes/);
    const doctype = await payments("", { extra: "<!DOCTYPE a>" });
    await expect(readTable("cashapp", doctype)).rejects.toThrow(/XML|document type/);
  });

  it("reads lines of totals and blank rows as a text table does", async () => {
    const names = PAYMENT.split(",");
    const file = await workbook([
      names,
      ["P1", "2026-03-01", "USD", 10, "A", null],
      [null, null, null, null, null, null],
      ["Total", null, null, 10, null, null],
    ]);
    const { records, leftOut } = await readTable("cashapp", file);
    expect([records.length, leftOut]).toEqual([1, ["total"]]);
  });
});

describe("formats and serials of a workbook", () => {
  it.each([
    ["dd/mm/yyyy", "date"],
    ["mmm-yy", "date"],
    ["[$-F800]dddd, mmmm dd, yyyy", "date"],
    ["h:mm AM/PM", "time"],
    ["[h]:mm:ss", "time"],
    ["#,##0.00 [$€-407]", "number"],
    ['#,##0.00" days"', "number"],
    ["[Red]-0.00;0.00", "number"],
    ["General", "number"],
    ["0.00E+00", "number"],
    ["\\d0", "number"],
  ])("%s is a %s", (code, kind) => {
    expect(describeFormat(code).kind).toBe(kind);
  });

  it("know the days of both systems, without the one that never was", () => {
    expect(convertSerial(1, false)).toEqual({ day: "1900-01-01", time: undefined });
    expect(convertSerial(59, false)?.day).toBe("1900-02-28");
    expect(convertSerial(60, false)).toBeUndefined();
    expect(convertSerial(61, false)?.day).toBe("1900-03-01");
    expect(convertSerial(46_082.999_999_999, false)).toEqual({
      day: "2026-03-02",
      time: undefined,
    });
    expect(convertSerial(0.5, false)).toBeUndefined();
    expect(convertSerial(-1, true)).toBeUndefined();
    expect(convertSerial(1e9, false)).toBeUndefined();
  });
});
