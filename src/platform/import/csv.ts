import { parse } from "csv-parse/sync";
import { Problem } from "../../contract/errors.ts";
import { isBlank, isRuled } from "./cells.ts";
import { findLayout, type Layout, type LayoutOptions } from "./layout.ts";
import { type Line, MAX_LINE_BYTES } from "./lines.ts";
import { type Item, type Reader, toUnreadable } from "./rows.ts";
import { isTotalWord } from "./totals.ts";

type Reason = NonNullable<Line["fault"]>;

const QUOTES: Reason = {
  code: "quote",
  message: "has a quote where RFC 4180 allows none, or one that is not closed",
};

const parseAll = (texts: readonly string[], delimiter: string): string[][] | undefined => {
  try {
    // The last record has no line feed after it, so its carriage return would become part of the last cell.
    const records = parse(texts.join("\n").replace(/\r$/, ""), {
      delimiter,
      relax_column_count: true,
      record_delimiter: ["\r\n", "\n"],
    });
    return records.length === texts.length ? records : undefined;
  } catch {
    return undefined;
  }
};

const parseOne = (text: string, delimiter: string): string[] | undefined =>
  parseAll([text], delimiter)?.[0];

// A record without quotes can be split at its delimiter, which is several times faster than the parser.
const splitPlain = (text: string, delimiter: string): string[] =>
  (text.endsWith("\r") ? text.slice(0, -1) : text).split(delimiter);

/** Parses records of one line each; undefined for a line that is not a record. */
const parseEach = (texts: readonly string[], delimiter: string): (string[] | undefined)[] => {
  const quoted = texts.filter((text) => text.includes('"'));
  if (quoted.length === 0) return texts.map((text) => splitPlain(text, delimiter));
  const records = parseAll(quoted, delimiter) ?? quoted.map((text) => parseOne(text, delimiter));
  let next = 0;
  return texts.map((text) => (text.includes('"') ? records[next++] : splitPlain(text, delimiter)));
};

/**
 * Returns a record with as many cells as the header: surplus blank cells are removed, and a line of totals, which often
 * has fewer, gets blank ones. Undefined for another number of cells.
 */
const fitCells = (cells: readonly string[], count: number): readonly string[] | undefined => {
  if (cells.length > count) {
    return cells.slice(count).every(isBlank) ? cells.slice(0, count) : undefined;
  }
  if (!cells.some(isTotalWord)) return undefined;
  return [...cells, ...Array.from({ length: count - cells.length }, () => "")];
};

const hasOddQuotes = (text: string): boolean => {
  let odd = false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) odd = !odd;
  return odd;
};

const GUARDED = /^="([^"]*)"$/;

/** Spreadsheet programs write a text that looks like a number as a formula, `="00123"`, so that it stays a text. */
const unguard = (cell: string | undefined): string | undefined =>
  cell?.startsWith('="') === true ? cell.replace(GUARDED, "$1") : cell;

const toRow = (columns: readonly string[], cells: readonly string[]): Record<string, unknown> => {
  const row: Record<string, unknown> = {};
  let place = 0;
  for (const name of columns) {
    const value = unguard(cells[place++]);
    if (name !== "__proto__") row[name] = value;
    else Object.defineProperty(row, name, { value, enumerable: true });
  }
  return row;
};

const headerProblem = (why: string): Problem =>
  new Problem("invalid_request", `The file's header line ${why}.`);

const parseHeader = (cells: readonly string[]): string[] => {
  // A name can have several lines.
  const names = cells.map((cell) => cell.replaceAll("\r\n", "\n").trim());
  if (!names.some((name) => name.includes("\r"))) return names;
  throw headerProblem("ends with a carriage return alone; lines end with LF or CR LF");
};

/**
 * Builds records from lines; the first record names the columns. When a record spanning several lines is invalid, only
 * its first line is rejected and reading resumes at the second, so that a stray quote does not swallow good rows.
 */
class CsvReader implements Reader {
  readonly #options: LayoutOptions;
  /** The first lines, until the form of the table is known. */
  #head: Line[] = [];
  #layout: Layout | undefined;
  #columns: string[] | undefined;
  /** The lines of a record whose quotes are not closed yet. */
  #open: Line[] = [];
  #openCharacters = 0;
  #inQuotes = false;
  /** Records of one line each, parsed together. */
  #simple: Line[] = [];
  #items: Item[] = [];

  constructor(options: LayoutOptions) {
    this.#options = options;
  }

  columns(): readonly string[] | undefined {
    return this.#columns;
  }

  layout(): Layout | undefined {
    return this.#layout;
  }

  push(lines: readonly Line[]): Item[] {
    if (this.#layout === undefined) this.#begin(lines, false);
    else this.#takeAll(lines);
    return this.#taken();
  }

  end(): Item[] {
    if (this.#layout === undefined) this.#begin([], true);
    while (this.#open.length > 0) this.#takeAll(this.#giveUp());
    return this.#taken();
  }

  /** Looks for the header, and takes the lines from it on. */
  #begin(lines: readonly Line[], isEnd: boolean): void {
    for (const line of lines) this.#head.push(line);
    const layout = findLayout(this.#head, this.#options, isEnd);
    const { header } = this.#options;
    if (isEnd && layout === undefined && header !== undefined) {
      throw headerProblem(`is line ${header} by the map, but the file ends before it`);
    }
    if (layout === undefined) return;
    this.#layout = layout;
    const head = this.#head;
    this.#head = [];
    this.#takeAll(head.filter(({ number }) => number >= layout.header));
  }

  get #delimiter(): string {
    return this.#layout?.delimiter ?? ",";
  }

  #taken(): Item[] {
    this.#flush();
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #takeAll(lines: readonly Line[]): void {
    for (const line of lines) {
      const waiting = this.#take(line).toReversed();
      for (let again = waiting.pop(); again !== undefined; again = waiting.pop()) {
        for (const rest of this.#take(again).toReversed()) waiting.push(rest);
      }
    }
  }

  /** Takes one line and returns the lines to read again. */
  #take(line: Line): Line[] {
    if (line.fault !== undefined) {
      if (this.#open.length > 0) return [...this.#giveUp(), line];
      this.#refuse(line, line.fault);
      return [];
    }
    const isFirst = this.#open.length === 0;
    if (isFirst && line.text.trim() === "") return [];
    this.#inQuotes = hasOddQuotes(line.text) !== (!isFirst && this.#inQuotes);
    if (isFirst && !this.#inQuotes && this.#columns !== undefined) {
      this.#simple.push(line);
      return [];
    }
    this.#open.push(line);
    this.#openCharacters += line.text.length;
    if (!this.#inQuotes) return this.#close();
    return this.#openCharacters > MAX_LINE_BYTES ? this.#giveUp() : [];
  }

  /** Parses the open record as complete. */
  #close(): Line[] {
    const cells = parseOne(this.#open.map(({ text }) => text).join("\n"), this.#delimiter);
    const count = this.#columns?.length ?? cells?.length;
    const isWhole = this.#open.length === 1 || cells?.length === count;
    const [first] = this.#open;
    if (first === undefined || cells === undefined || !isWhole) return this.#giveUp();
    this.#reset();
    this.#emit(first, cells);
    return [];
  }

  /** Rejects the open record's first line and returns the others to be read again. */
  #giveUp(): Line[] {
    const [first, ...rest] = this.#open;
    this.#reset();
    if (first !== undefined) this.#refuse(first, QUOTES);
    return rest;
  }

  #reset(): void {
    this.#open = [];
    this.#openCharacters = 0;
    this.#inQuotes = false;
  }

  #flush(): void {
    const lines = this.#simple;
    this.#simple = [];
    const records = parseEach(
      lines.map(({ text }) => text),
      this.#delimiter,
    );
    for (const [place, line] of lines.entries()) {
      const cells = records[place];
      if (cells === undefined) this.#items.push(toUnreadable(line, QUOTES));
      else this.#named(line, cells);
    }
  }

  #emit(line: Line, cells: readonly string[]): void {
    this.#flush();
    if (this.#columns === undefined) this.#columns = parseHeader(cells);
    else this.#named(line, cells);
  }

  #refuse(line: Line, reason: Reason): void {
    if (this.#columns === undefined) throw headerProblem(reason.message);
    this.#flush();
    this.#items.push(toUnreadable(line, reason));
  }

  #named(line: Line, cells: readonly string[]): void {
    const columns = this.#columns ?? [];
    const [first = ""] = cells;
    if (first.trim() === "" && cells.every(isBlank)) return;
    if (isRuled(cells)) return;
    const fitting = cells.length === columns.length ? cells : fitCells(cells, columns.length);
    if (fitting === undefined) {
      const message = `has ${cells.length} cells where the header has ${columns.length}`;
      this.#items.push(toUnreadable(line, { code: "columns", message }));
      return;
    }
    this.#items.push({ line: line.number, cells: toRow(columns, fitting) });
  }
}

/** Creates a reader of tables in text, with the delimiter and the header of the options, else those that it finds. */
export const createCsvReader = (options: LayoutOptions = {}): Reader => new CsvReader(options);
