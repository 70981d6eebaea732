import { type Cell, type Column, type Row, toCell, toHeader } from "./cells.ts";
import { neutralizeParts, neutralizeText } from "./neutralize.ts";
import { type Facts, inBatches, type Table } from "./table.ts";

const BOM = "\ufeff";
const LINE_END = "\r\n";

/** Characters that end a field in some program, or that it leaves out. */
const QUOTED = /[",;\t\r\n]|^\s|\s$/;

const quote = (text: string): string =>
  QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

const toText = (cell: Cell): string => {
  if (cell === null) return "";
  if (typeof cell === "object") return cell.text;
  return typeof cell === "string" ? quote(neutralizeParts(cell)) : String(cell);
};

const toLine = (cells: readonly Cell[]): string => cells.map(toText).join(",") + LINE_END;

const formatRows = (rows: readonly Row[], columns: readonly Column[], { zone }: Table): string =>
  rows.map((row) => toLine(columns.map((column) => toCell(row, column, zone)))).join("");

const formatFacts = (facts: Facts): string =>
  [
    ...facts.map(([name, value]) =>
      toLine([name, typeof value === "string" ? neutralizeText(value) : value]),
    ),
    LINE_END,
  ].join("");

/**
 * Writes a table as CSV (RFC 4180) in UTF-8 with a byte order mark, by which spreadsheets know the encoding. With
 * `about`, its facts come first, and then an empty line; the rows wait in memory, because the facts have their number.
 */
export async function* writeCsv(table: Table, isWithFacts: boolean): AsyncGenerator<Uint8Array> {
  const { columns } = table;
  const waiting: Buffer[] = [];
  const header = toLine(columns.map(toHeader));
  if (!isWithFacts) yield Buffer.from(BOM + header);
  for await (const rows of inBatches(table.rows)) {
    const bytes = Buffer.from(formatRows(rows, columns, table));
    if (isWithFacts) waiting.push(bytes);
    else yield bytes;
  }
  if (!isWithFacts) return;
  yield Buffer.from(BOM + formatFacts(table.facts()) + header);
  yield* waiting;
}
