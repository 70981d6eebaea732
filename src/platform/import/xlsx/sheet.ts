import { type NumberFormat, PLAIN, roundTail } from "../../../kit/xlsx/formats.ts";
import { convertSerial } from "../../../kit/xlsx/serial-days.ts";
import { type Handlers, parseColumn } from "../../../kit/xlsx/structure.ts";
import { DateCell, ErrorCell, isRuled } from "../cells.ts";
import { parseDay } from "../dates.ts";
import { createWorkbookProblem, parsePart } from "./package.ts";
import { createTextCollector, type Sheet, type Workbook } from "./workbook.ts";

/** A row of a sheet that is not blank, counted from 1; cells without a value are undefined. */
export type SheetRow = { number: number; cells: readonly unknown[] };

const MOST_ROWS = 1_048_576;
const MOST_COLUMNS = 16_384;
const MOST_CHARACTERS = 32_767;

type OpenCell = {
  column: number;
  type: string;
  style: number;
  value: string;
  hasFormula: boolean;
};

const convertNumber = (text: string, format: NumberFormat, { is1904 }: Workbook): unknown => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return new ErrorCell(text.slice(0, 100));
  if (format.kind === "date") {
    const found = convertSerial(value, is1904);
    return found === undefined ? value : new DateCell(found.day, found.time);
  }
  if (format.digits > 1 && Number.isSafeInteger(value) && value >= 0) {
    return String(value).padStart(format.digits, "0");
  }
  return roundTail(value);
};

const convertDate = (text: string): unknown => {
  const day = parseDay(text.slice(0, 10));
  const time = text.slice(11, 19);
  if (day === undefined) return new ErrorCell(text.slice(0, 100));
  return new DateCell(day, time === "" || time.startsWith("00:00:00") ? undefined : time);
};

/** Returns the value of a cell by its type (ECMA-376 part 1, 18.18.11). */
const convertCell = (cell: OpenCell, inline: string, workbook: Workbook): unknown => {
  const { type, value, style } = cell;
  switch (type) {
    case "s":
      return workbook.strings[Number(value)];
    case "inlineStr":
      return inline;
    case "str":
      return value;
    case "b":
      return value === "1" || value === "true";
    case "e":
      return new ErrorCell(value.slice(0, 100));
    case "d":
      return convertDate(value);
    default:
      if (value !== "") return convertNumber(value, workbook.formats[style] ?? PLAIN, workbook);
      return cell.hasFormula ? new ErrorCell("a formula without a value") : undefined;
  }
};

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === "string" && value.trim() === "");

/** Creates the handlers that collect the rows of a sheet. */
const createRowCollector = (workbook: Workbook): Handlers & { take(): SheetRow[] } => {
  let rows: SheetRow[] = [];
  let number = 0;
  let cells: unknown[] = [];
  let next = 0;
  let cell: OpenCell | undefined;
  let isValue = false;
  const inline = createTextCollector();
  const openCell = ({ r = "", t = "n", s = "0" }: Readonly<Record<string, string>>): OpenCell => {
    const column = parseColumn(r) ?? next;
    if (column >= MOST_COLUMNS) throw createWorkbookProblem("it has too many columns");
    next = column + 1;
    return { column, type: t, style: Number(s), value: "", hasFormula: false };
  };
  const closeRow = (): void => {
    if (!cells.every(isEmpty) && !isRuled(cells)) rows.push({ number, cells });
    cells = [];
  };
  return {
    open(tag, attributes) {
      if (tag === "row") {
        number = attributes["r"] === undefined ? number + 1 : Number(attributes["r"]);
        next = 0;
        if (!(number <= MOST_ROWS)) throw createWorkbookProblem("it has too many rows");
      } else if (tag === "c") cell = openCell(attributes);
      else if (tag === "f" && cell !== undefined) cell.hasFormula = true;
      else if (tag === "v") isValue = true;
      else inline.open(tag, attributes);
    },
    text(more) {
      if (cell === undefined) return;
      if (isValue) cell.value += more;
      else inline.text(more);
      if (cell.value.length > MOST_CHARACTERS) throw createWorkbookProblem("a cell is too long");
    },
    close(tag) {
      if (tag === "v") isValue = false;
      else if (tag === "row") closeRow();
      else if (tag !== "c") inline.close(tag);
      else if (cell !== undefined) {
        const value = convertCell(cell, inline.take(), workbook);
        if (!isEmpty(value)) cells[cell.column] = value;
        cell = undefined;
      }
    },
    take() {
      const taken = rows;
      rows = [];
      return taken;
    },
  };
};

/** Reads the rows of a sheet that are not blank, in groups. Of merged cells, the first one has the value. */
export async function* readSheet(
  workbook: Workbook,
  { part }: Sheet,
): AsyncGenerator<SheetRow[], void, undefined> {
  const collector = createRowCollector(workbook);
  for await (const _ of parsePart(workbook.parts, part, collector)) {
    const rows = collector.take();
    if (rows.length > 0) yield rows;
  }
}
