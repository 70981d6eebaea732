import type { Warn } from "./bank/file.ts";
import { type Cells, isBlank, toText } from "./cells.ts";
import { isHeaderRow, type LayoutOptions } from "./layout.ts";
import type { Item } from "./rows.ts";
import { createWorkbookProblem, openPackage } from "./xlsx/package.ts";
import { readSheet, type SheetRow } from "./xlsx/sheet.ts";
import { readWorkbook, type Sheet, type Workbook } from "./xlsx/workbook.ts";

export type SheetOptions = Omit<LayoutOptions, "delimiter"> & {
  /** The name of the sheet; undefined for the first visible one with data. */
  sheet?: string | undefined;
  /** Receives the names of other sheets that have data. */
  warn?: Warn | undefined;
};

/** The sheet and the row of the header that were found. */
export type SheetLayout = { sheet: string; header: number };

/** An open workbook; `columns` and `layout` are valid after the first items were read. */
export type WorkbookReading = {
  columns(): readonly string[] | null;
  layout(): SheetLayout | undefined;
  items(): AsyncGenerator<Item[], void, undefined>;
};

const MOST_NAMES = 20;

const listSheets = ({ sheets }: Workbook, name: string | undefined): readonly Sheet[] => {
  const visible = sheets.filter(({ isHidden }) => !isHidden);
  if (name === undefined) return visible;
  const chosen = sheets.find((sheet) => sheet.name.trim() === name.trim());
  if (chosen !== undefined) return [chosen];
  const names = visible.map((sheet) => sheet.name).slice(0, MOST_NAMES);
  throw createWorkbookProblem(`it has no sheet ${name}, but ${names.join(", ")}`);
};

const hasRows = async (workbook: Workbook, sheet: Sheet): Promise<boolean> => {
  for await (const _ of readSheet(workbook, sheet)) return true;
  return false;
};

/** Names the sheets that are not read, so that their rows are not missed. */
const warnOfOthers = async (
  workbook: Workbook,
  read: Sheet,
  others: readonly Sheet[],
  warn: Warn,
): Promise<void> => {
  const names: string[] = [];
  for (const sheet of others.slice(0, MOST_NAMES)) {
    if (await hasRows(workbook, sheet)) names.push(sheet.name);
  }
  if (names.length === 0) return;
  warn(
    `sheet ${read.name}`,
    `is the one that is read; ${names.join(", ")} also has rows, which need an import with a map that names the "sheet"`,
  );
};

/** Reads the rows of the first sheet that has any. */
export async function* readRows(
  bytes: AsyncIterable<Uint8Array>,
  { sheet: name, warn }: Pick<SheetOptions, "sheet" | "warn"> = {},
): AsyncGenerator<{ sheet: string; rows: SheetRow[] }, void, undefined> {
  const workbook = await readWorkbook(await openPackage(bytes));
  const sheets = listSheets(workbook, name);
  for (const [place, sheet] of sheets.entries()) {
    let isRead = false;
    for await (const rows of readSheet(workbook, sheet)) {
      isRead = true;
      yield { sheet: sheet.name, rows };
    }
    if (!isRead) continue;
    if (warn !== undefined) await warnOfOthers(workbook, sheet, sheets.slice(place + 1), warn);
    return;
  }
}

const MOST_HEAD_ROWS = 50;

/** Finds the header among the first rows; undefined if more rows are needed. */
const findHeader = (
  rows: readonly SheetRow[],
  options: SheetOptions,
  isEnd: boolean,
): number | undefined => {
  if (options.header !== undefined) return options.header;
  const names = rows
    .slice(0, MOST_HEAD_ROWS)
    .find(({ cells }) => isHeaderRow(toNames(cells), options));
  if (names !== undefined) return names.number;
  const isEnough = isEnd || options.expected === undefined || rows.length >= MOST_HEAD_ROWS;
  return isEnough ? rows[0]?.number : undefined;
};

const toNames = (cells: readonly unknown[]): string[] =>
  Array.from(cells, (cell) => (isBlank(cell) ? "" : toText(cell)));

const toRow = (columns: readonly string[], { number, cells }: SheetRow): Item[] => {
  const row: Cells = {};
  let isEmpty = true;
  for (const [place, name] of columns.entries()) {
    const value = cells[place] ?? "";
    if (value !== "") isEmpty = false;
    if (name === "" && value === "") continue;
    Object.defineProperty(row, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return isEmpty ? [] : [{ line: number, cells: row }];
};

/** Opens a workbook as a table: numbers as numbers, days as {@link DateCell}, errors as `ErrorCell`, text as text. */
export const openWorkbook = (
  bytes: () => AsyncIterable<Uint8Array>,
  options: SheetOptions = {},
): WorkbookReading => {
  let columns: string[] | undefined;
  let layout: SheetLayout | undefined;
  let head: SheetRow[] = [];
  const take = (sheet: string, rows: readonly SheetRow[], isEnd: boolean): Item[] => {
    if (columns !== undefined) return rows.flatMap((row) => toRow(columns ?? [], row));
    head.push(...rows);
    const header = findHeader(head, options, isEnd);
    const found = head.find(({ number }) => number === header);
    if (header === undefined || found === undefined) return [];
    const names = toNames(found.cells);
    columns = names;
    layout = { sheet, header };
    const rest = head.filter(({ number }) => number > header);
    head = [];
    return rest.flatMap((row) => toRow(names, row));
  };
  return {
    columns: () => columns ?? null,
    layout: () => layout,
    async *items() {
      let last = "";
      for await (const { sheet, rows } of readRows(bytes(), options)) {
        last = sheet;
        yield take(sheet, rows, false);
      }
      if (columns === undefined) yield take(last, [], true);
      if (columns === undefined && options.header !== undefined) {
        throw createWorkbookProblem(`row ${options.header}, its header by the map, is blank`);
      }
    },
  };
};
