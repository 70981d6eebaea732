import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import { DAY, SECOND } from "../../../kit/clock.ts";
import { lettersOf } from "../column-letters.ts";
import { type Cell, type Column, type Row, toCell, toHeader } from "./cells.ts";
import { inBatches, type Table } from "./table.ts";
import { neutralizeText } from "./neutralize.ts";

/**
 * SpreadsheetML (ECMA-376, part 1) with the parts that a workbook needs. Cells have their own texts, without a list of
 * shared ones, so that no row is needed after it is written.
 */
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

const PARTS: Record<string, string> = {
  "[Content_Types].xml": `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/worksheets/sheet2.xml" ContentType="${TYPE}.worksheet+xml"/></Types>`,
  "_rels/.rels": `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONSHIPS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet2.xml"/><Relationship Id="rId3" Type="${RELATIONSHIPS}/styles" Target="styles.xml"/></Relationships>`,
  "xl/workbook.xml": `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="Table" sheetId="1" r:id="rId1"/><sheet name="About" sheetId="2" r:id="rId2"/></sheets></workbook>`,
  "xl/styles.xml": `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs></styleSheet>`,
};

/** Places in `cellXfs`. */
const STYLE = { day: 1, time: 2, header: 3 };

/** The most characters of a cell. */
const MAX_TEXT = 32_767;
const CUT = "…";

/** Characters that no XML document has. */
// oxlint-disable-next-line no-control-regex -- these characters are the ones to find
const REFUSED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** The escape of a character in SpreadsheetML, which programs would decode. */
const ESCAPE = /_(?=x[0-9a-f]{4}_)/gi;

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(REFUSED, "")
    .replaceAll(ESCAPE, "_x005F_")
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[&<>]/g, (mark) => ENTITIES[mark] ?? "");

const cutText = (text: string): string =>
  text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT - 1).toWellFormed() + CUT;

const textCell = (at: string, text: string, style = ""): string =>
  `<c r="${at}" t="inlineStr"${style}><is><t xml:space="preserve">${escapeXml(cutText(text))}</t></is></c>`;

/** The day 0 of spreadsheets, so that their days are right from 1 March 1900 on. */
const EPOCH = Date.UTC(1899, 11, 30);
const FIRST = Date.UTC(1900, 2, 1);
const LAST = Date.UTC(10_000, 0, 1);

const serialOf = (at: number): number => (Math.floor(at / SECOND) * SECOND - EPOCH) / DAY;

const datedCell = (at: string, cell: Exclude<Cell, null | string | number | boolean>): string => {
  const [value, style] = "day" in cell ? [cell.day, STYLE.day] : [cell.time, STYLE.time];
  return value < FIRST || value >= LAST
    ? textCell(at, cell.text)
    : `<c r="${at}" s="${style}"><v>${serialOf(value)}</v></c>`;
};

const formatCell = (cell: Cell, at: string): string => {
  if (cell === null) return "";
  if (typeof cell === "string") return textCell(at, cell);
  if (typeof cell === "number") return `<c r="${at}"><v>${cell}</v></c>`;
  if (typeof cell === "boolean") return `<c r="${at}" t="b"><v>${Number(cell)}</v></c>`;
  return datedCell(at, cell);
};

/** Formats the cells of a row, whose number counts from 1. */
const formatRow = (cells: readonly Cell[], number: number, letters: readonly string[]): string => {
  const formatted = cells.map((cell, place) => formatCell(cell, `${letters[place]}${number}`));
  return `<row r="${number}">${formatted.join("")}</row>`;
};

const formatHeader = (names: readonly string[], letters: readonly string[]): string => {
  const style = ` s="${STYLE.header}"`;
  const cells = names.map((name, place) => textCell(`${letters[place]}1`, name, style));
  return `<row r="1">${cells.join("")}</row>`;
};

const [NARROW, WIDE] = [8, 60];
const TIME_WIDTH = 20;

const widthOf = (cell: Cell): number => {
  if (cell === null) return 0;
  if (typeof cell === "object") return "day" in cell ? "2026-01-31".length : TIME_WIDTH - 1;
  return String(cell).length;
};

/** Returns the widths of columns that show the header and the first rows, within bounds. */
const formatWidths = (names: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const widths = names.map((name, place) => {
    const longest = rows.reduce((most, row) => Math.max(most, widthOf(row[place] ?? null)), 0);
    return Math.min(WIDE, Math.max(NARROW, name.length + 2, longest + 2));
  });
  const columns = widths.map((width, place) => {
    const at = place + 1;
    return `<col min="${at}" max="${at}" width="${width}" customWidth="1"/>`;
  });
  return columns.length === 0 ? "" : `<cols>${columns.join("")}</cols>`;
};

const FROZEN =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';
const SHEET_START = `${XML}<worksheet xmlns="${MAIN}">`;
const SHEET_END = "</sheetData></worksheet>";

async function* formatTable({ columns, rows, zone }: Table): AsyncGenerator<Buffer> {
  const names = columns.map(toHeader);
  const letters = names.map((_name, place) => lettersOf(place));
  let number = 1;
  const toCells = (row: Row): Cell[] => columns.map((column: Column) => toCell(row, column, zone));
  let isBegun = false;
  const begin = (first: readonly (readonly Cell[])[]): string => {
    isBegun = true;
    const widths = formatWidths(names, first);
    return `${SHEET_START}${FROZEN}${widths}<sheetData>${formatHeader(names, letters)}`;
  };
  for await (const batch of inBatches(rows)) {
    const cells = batch.map(toCells);
    const before = isBegun ? "" : begin(cells);
    const texts = cells.map((row) => formatRow(row, (number += 1), letters));
    yield Buffer.from(before + texts.join(""));
  }
  yield Buffer.from((isBegun ? "" : begin([])) + SHEET_END);
}

const FACT_LETTERS = ["A", "B"];

const formatFacts = (facts: ReturnType<Table["facts"]>): string => {
  const rows = facts.map(([name, value], place) =>
    formatRow(
      [name, typeof value === "string" ? neutralizeText(value) : value],
      place + 1,
      FACT_LETTERS,
    ),
  );
  const widths =
    '<cols><col min="1" max="1" width="14" customWidth="1"/><col min="2" max="2" width="80" customWidth="1"/></cols>';
  return `${SHEET_START}${widths}<sheetData>${rows.join("")}${SHEET_END}`;
};

/** Writes a table as a workbook with the sheets `Table` and `About`. Memory does not depend on the number of rows. */
export async function* writeXlsx(table: Table, mtime: Date): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const options = { mtime, mode: 0o100_600 };
  for (const [name, content] of Object.entries(PARTS)) {
    zip.addBuffer(Buffer.from(XML + content), name, options);
  }
  const sheet = Readable.from(formatTable(table), { objectMode: false });
  const archive = zip.outputStream as Readable;
  // The archive does not pass on the failures of what it reads.
  sheet.on("error", (error) => archive.destroy(error));
  zip.addReadStream(sheet, "xl/worksheets/sheet1.xml", options);
  zip.addReadStreamLazy("xl/worksheets/sheet2.xml", options, (open) => {
    open(null, Readable.from([Buffer.from(formatFacts(table.facts()))], { objectMode: false }));
  });
  zip.end();
  try {
    for await (const chunk of archive) yield chunk as Uint8Array;
  } finally {
    sheet.destroy();
  }
}
