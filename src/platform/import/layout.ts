import type { Line } from "./lines.ts";

/** The form of a text table: the sign between its cells, and the line of its header, counted from 1. */
export type Layout = { delimiter: string; header: number };

/** The form of a table as far as a map gives it, and the names of expected columns. */
export type LayoutOptions = {
  delimiter?: string | undefined;
  header?: number | undefined;
  /** Names that identify a header below other lines; without them the first line is the header. */
  expected?: ReadonlySet<string> | undefined;
  /** Whether each expected name is a column of the file, because a map names it. */
  isEachExpected?: boolean;
};

export const DELIMITERS = [",", ";", "\t", "|"] as const;

/** Number of lines that are searched for the header. */
const MOST_LINES = 50;
const MOST_CHARACTERS = 256 * 1024;
/** A record of the header has at most so many lines. */
const MOST_OPEN_LINES = 5;

/** Splits a record at a delimiter outside quotes, and removes the quotes. */
export const splitCells = (text: string, delimiter: string): string[] => {
  const cells: string[] = [];
  let from = 0;
  let quoted = false;
  const add = (to: number): void => {
    const cell = text.slice(from, to).trim();
    const isQuoted = cell.startsWith('"') && cell.endsWith('"') && cell.length > 1;
    cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"').trim() : cell);
  };
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    else if (!quoted && text[at] === delimiter) {
      add(at);
      from = at + 1;
    }
  }
  add(text.length);
  return cells;
};

const hasOpenQuote = (text: string): boolean => text.split('"').length % 2 === 0;

/** A record of one or more lines. */
export type HeadRecord = { line: number; text: string };

/** Joins the lines of records whose quoted cells have line breaks; blank lines are dropped. */
export const joinRecords = (lines: readonly Line[]): HeadRecord[] => {
  const records: HeadRecord[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (line === undefined || line.text.trim() === "") continue;
    let { text } = line;
    let end = at;
    while (hasOpenQuote(text) && end - at < MOST_OPEN_LINES && end + 1 < lines.length) {
      end += 1;
      text = `${text.replace(/\r$/, "")}\n${lines[end]?.text ?? ""}`;
    }
    const isWhole = !hasOpenQuote(text);
    records.push({ line: line.number, text: isWhole ? text : line.text });
    if (isWhole) at = end;
  }
  return records;
};

type Candidate = Layout & { matches: number; cells: number };

const countMatches = (names: readonly string[], expected: ReadonlySet<string>) => {
  const cells = names.filter((name) => name !== "");
  return {
    matches: new Set(cells.filter((cell) => expected.has(cell))).size,
    cells: cells.length,
  };
};

const weigh = (
  record: HeadRecord,
  delimiter: string,
  expected: ReadonlySet<string>,
): Candidate => ({
  delimiter,
  header: record.line,
  ...countMatches(splitCells(record.text, delimiter), expected),
});

const findBest = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.toSorted((one, other) => other.matches - one.matches || other.cells - one.cells)[0];

const isHeader = (
  { matches, cells }: Pick<Candidate, "matches" | "cells">,
  { isEachExpected, expected }: LayoutOptions,
): boolean =>
  isEachExpected === true
    ? matches > 0 && matches === expected?.size
    : matches > 0 && matches * 2 >= cells;

/** Returns whether cells are a header by the expected names. */
export const isHeaderRow = (cells: readonly string[], options: LayoutOptions): boolean =>
  options.expected !== undefined && isHeader(countMatches(cells, options.expected), options);

const listDelimiters = ({ delimiter }: LayoutOptions): readonly string[] =>
  delimiter === undefined ? DELIMITERS : [delimiter];

// A first line that spreadsheet programs read as an instruction.
const INSTRUCTION = /^sep=(.)\r?$/i;

const findStated = (records: readonly HeadRecord[], options: LayoutOptions): LayoutOptions => {
  const stated = INSTRUCTION.exec(records[0]?.text ?? "")?.[1];
  return stated === undefined ? options : { ...options, delimiter: options.delimiter ?? stated };
};

/** Chooses the delimiter of a header by the expected names, else by the number of cells. */
const chooseDelimiter = (record: HeadRecord, options: LayoutOptions): Layout | undefined =>
  findBest(
    listDelimiters(options).map((sign) => weigh(record, sign, options.expected ?? new Set())),
  );

/** Returns the header that the expected names tell, if there is one. */
const findByNames = (
  records: readonly HeadRecord[],
  options: LayoutOptions,
): Layout | undefined => {
  const { expected } = options;
  if (expected === undefined) return undefined;
  for (const record of records) {
    const weighed = listDelimiters(options).map((sign) => weigh(record, sign, expected));
    const found = findBest(weighed.filter((one) => isHeader(one, options)));
    if (found !== undefined) return found;
  }
  return undefined;
};

/**
 * Finds the form of a table from its first lines. Undefined if more lines are needed, which `isEnd` excludes: then the
 * first line is the header.
 */
export const findLayout = (
  lines: readonly Line[],
  given: LayoutOptions,
  isEnd: boolean,
): Layout | undefined => {
  const records = joinRecords(lines.slice(0, MOST_LINES));
  const options = findStated(records, given);
  const [first, second] = records;
  if (first === undefined) return undefined;
  if (options.header !== undefined) {
    const stated = lines.find(({ number }) => number === options.header);
    if (stated === undefined) return undefined;
    const record = joinRecords(lines.slice(lines.indexOf(stated)))[0];
    return record && chooseDelimiter({ ...record, line: options.header }, options);
  }
  const found = findByNames(records, options);
  if (found !== undefined) return found;
  const characters = lines.reduce((sum, { text }) => sum + text.length, 0);
  const isEnough = isEnd || lines.length >= MOST_LINES || characters > MOST_CHARACTERS;
  if (options.expected !== undefined && !isEnough) return undefined;
  const header = INSTRUCTION.test(first.text) ? second : first;
  return header && chooseDelimiter(header, options);
};
