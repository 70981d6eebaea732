import { isRecord } from "../../../kit/json.ts";
import { type Cells, isBlank, isRuled, toText } from "../cells.ts";
import { type HeadRecord, DELIMITERS, joinRecords, splitCells } from "../layout.ts";
import { type Line, readLines } from "../lines.ts";
import { createNdjsonReader } from "../ndjson.ts";
import { isRow } from "../rows.ts";
import { isTotalWord } from "../totals.ts";
import { readRows } from "../xlsx.ts";
import { findConcept } from "./headings.ts";

/** The first rows of a file as a table of cells. */
export type Sample = {
  delimiter: string | undefined;
  sheet: string | undefined;
  /** The line of the header, counted from 1; undefined for NDJSON. */
  header: number | undefined;
  names: readonly string[];
  rows: readonly { line: number; cells: readonly unknown[] }[];
  /** The texts of the lines above the header. */
  above: readonly string[];
};

const MOST_ROWS = 1000;
const HEAD_ROWS = 50;
const MOST_CHARACTERS = 4_000_000;

type Grid = readonly { line: number; cells: readonly unknown[] }[];

const toNames = (cells: readonly unknown[]): string[] =>
  Array.from(cells, (cell) => (isBlank(cell) ? "" : toText(cell)));

/** Counts the different concepts of a row's cells, as far as they are headings. */
const countConcepts = (cells: readonly unknown[]): number => {
  const names = toNames(cells).filter((name) => name !== "" && !/^[\d\W]+$/.test(name));
  return new Set(names.flatMap((name) => findConcept(name) ?? [])).size;
};

const countFilled = (cells: readonly unknown[]): number =>
  cells.filter((cell) => !isBlank(cell)).length;

type Header = { place: number; concepts: number; filled: number };

/** Finds the row with the most known headings, else the first one that is as wide as the rows below it. */
const findHeaderRow = (grid: Grid): Header | undefined => {
  const weighed = grid.slice(0, HEAD_ROWS).map(({ cells }, place) => ({
    place,
    concepts: countConcepts(cells),
    filled: countFilled(cells),
  }));
  const [best] = weighed.toSorted(
    (one, other) => other.concepts - one.concepts || one.place - other.place,
  );
  if (best !== undefined && best.concepts >= 2) return best;
  const widest = Math.max(0, ...weighed.map(({ filled }) => filled));
  return weighed.find(({ filled }) => filled > 1 && filled * 2 > widest) ?? best;
};

const cut = (grid: Grid, { place }: Header) => {
  const head = grid[place];
  return {
    header: head?.line ?? 1,
    names: toNames(head?.cells ?? []),
    rows: grid.slice(place + 1),
    above: grid.slice(0, place).map(({ cells }) => toNames(cells).join(" ").trim()),
  };
};

const toGrid = (records: readonly HeadRecord[], delimiter: string): Grid =>
  records.map(({ line, text }) => ({ line, cells: splitCells(text, delimiter) }));

const collectLines = async (bytes: AsyncIterable<Uint8Array>): Promise<Line[]> => {
  const lines: Line[] = [];
  let characters = 0;
  for await (const more of readLines(bytes)) {
    for (const line of more) {
      lines.push(line);
      characters += line.text.length;
    }
    if (lines.length > MOST_ROWS || characters > MOST_CHARACTERS) break;
  }
  return lines.slice(0, MOST_ROWS);
};

/** Reads the first rows of a text table. The delimiter that shows the most known headings is taken. */
export const sampleText = async (bytes: AsyncIterable<Uint8Array>): Promise<Sample | undefined> => {
  const records = joinRecords(await collectLines(bytes)).map((record) => ({
    ...record,
    text: record.text.replace(/\r$/, ""),
  }));
  const found = DELIMITERS.flatMap((delimiter) => {
    const grid = toGrid(records, delimiter);
    const header = findHeaderRow(grid);
    return header === undefined ? [] : [{ delimiter, grid, header }];
  });
  const [best] = found.toSorted(
    ({ header: one }, { header: other }) =>
      other.concepts - one.concepts || other.filled - one.filled,
  );
  if (best === undefined) return undefined;
  return { delimiter: best.delimiter, sheet: undefined, ...cut(best.grid, best.header) };
};

/** Reads the first rows of a workbook. */
export const sampleWorkbook = async (
  bytes: AsyncIterable<Uint8Array>,
): Promise<Sample | undefined> => {
  const grid: { line: number; cells: readonly unknown[] }[] = [];
  let name: string | undefined;
  for await (const { sheet, rows } of readRows(bytes)) {
    name = sheet;
    for (const { number, cells } of rows) grid.push({ line: number, cells: Array.from(cells) });
    if (grid.length > MOST_ROWS) break;
  }
  const header = findHeaderRow(grid);
  if (header === undefined) return undefined;
  return { delimiter: undefined, sheet: name, ...cut(grid.slice(0, MOST_ROWS), header) };
};

const MOST_NAMES = 500;

/** Lists the values of an object by their names; those of objects within it have dots. */
const flatten = (cells: Cells, before = ""): [string, unknown][] =>
  Object.entries(cells).flatMap(([key, value]): [string, unknown][] => {
    const name = `${before}${key}`;
    return isRecord(value) && before === "" ? flatten(value, `${name}.`) : [[name, value]];
  });

/** Reads the first rows of NDJSON; the names of their values are those of the columns. */
export const sampleObjects = async (
  bytes: AsyncIterable<Uint8Array>,
): Promise<Sample | undefined> => {
  const objects = createNdjsonReader()
    .push(await collectLines(bytes))
    .flatMap((item) =>
      isRow(item) ? [{ line: item.line, values: new Map(flatten(item.cells)) }] : [],
    );
  const found = new Set(objects.flatMap(({ values }) => [...values.keys()]));
  const names = [...found].slice(0, MOST_NAMES);
  if (names.length === 0) return undefined;
  return {
    delimiter: undefined,
    sheet: undefined,
    header: undefined,
    names,
    rows: objects.map(({ line, values }) => ({
      line,
      cells: names.map((name) => values.get(name) ?? ""),
    })),
    above: [],
  };
};

/** Returns the rows that can be records: as wide as the header, and without a word such as "Total". */
export const listRecords = ({ names, rows }: Sample): readonly (readonly unknown[])[] =>
  rows
    .map(({ cells }) => cells)
    .filter(
      (cells) =>
        countFilled(cells) > 1 &&
        !isRuled(cells) &&
        cells.slice(names.length).every(isBlank) &&
        !cells.some(isTotalWord),
    );
