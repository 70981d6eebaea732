import type { Entry } from "yauzl";
import type { Rows } from "../content.ts";
import { parseColumn, type Structure } from "../../../kit/xlsx/structure.ts";
import type { Archive } from "./archive.ts";
import { formatText, formatValue } from "./xlsx-values.ts";
import { parseXml } from "./xml-text.ts";

const MAX_COLUMNS = 16_384;
/** Cells of a row beyond so many empty ones are not shown. */
const MAX_EMPTY = 200;
/** So many empty rows are shown as empty lines; more end the rows that follow one another. */
const MAX_GAP = 3;
/** The assumed length of a shared text before it is read. */
const SHARED_LENGTH = 8;

/** A cell: its text, or the number of a text that the workbook's cells share. */
type Cell = string | number;
type Row = { index: number; cells: Map<number, Cell> };

const ROW = Buffer.from("<row ");
const DATA = Buffer.from("<sheetData>");
/** The usual programs write less before the rows; after more, nothing is skipped. */
const MAX_HEAD = 1024 * 1024;
const NUMBER = /^<row [^>]{0,200}?\br="(\d{1,7})"/;
const LOOKED_AT = 256;

/** Looks for the first row after an offset. Returns its place and number, or how much has no such row. */
const findRow = (
  held: Buffer,
  offset: number,
  isEnd: boolean,
): { at: number; number: number } | { skipped: number } | undefined => {
  for (let at = held.indexOf(ROW); at >= 0; at = held.indexOf(ROW, at + ROW.length)) {
    if (!isEnd && at + LOOKED_AT > held.length) return { skipped: at };
    const [, number] = NUMBER.exec(held.toString("latin1", at, at + LOOKED_AT)) ?? [];
    if (number === undefined) return undefined;
    if (Number(number) > offset) return { at, number: Number(number) };
  }
  return { skipped: Math.max(0, held.length - ROW.length) };
};

/**
 * Leaves out the rows before an offset without parsing them, which is ten times as fast. Nothing is left out where rows
 * have no numbers, or the file has another form than that of the usual programs.
 */
const skipRows = async function* skipRows(
  pieces: AsyncIterable<Buffer>,
  offset: number,
): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  let state: "head" | "skipping" | "found" = offset === 0 ? "found" : "head";
  for await (const piece of pieces) {
    if (state === "found") {
      yield piece;
      continue;
    }
    held = Buffer.concat([held, piece]);
    if (state === "head") {
      const at = held.indexOf(DATA);
      if (at >= 0) state = "skipping";
      else if (held.length > MAX_HEAD) state = "found";
      if (state === "head") continue;
      if (state === "found") yield held;
    }
    if (state !== "skipping") continue;
    const row = findRow(held, offset, false);
    if (row !== undefined && "skipped" in row) {
      held = held.subarray(row.skipped);
      continue;
    }
    state = "found";
    // A number for the rows that follow and have none themselves.
    if (row !== undefined) yield Buffer.from(`<worksheet><sheetData><row r="${row.number - 1}"/>`);
    yield row === undefined ? held : held.subarray(row.at);
  }
  if (state === "found") return;
  const last = findRow(held, offset, true);
  if (last !== undefined && "at" in last) {
    yield Buffer.from(`<worksheet><sheetData><row r="${last.number - 1}"/>`);
    yield held.subarray(last.at);
  } else yield Buffer.from("<worksheet/>");
};

/** Parses rows, and gives each to `take` until that says that it is enough. */
const parseRows = async (
  pieces: AsyncIterable<Buffer>,
  book: Structure,
  take: (row: Row) => boolean,
): Promise<void> => {
  let row: Row = { index: -1, cells: new Map() };
  let [column, type, style, value] = [-1, "n", 0, ""];
  let [isValue, isDone] = [false, false];
  const endCell = (): void => {
    if (type === "s") row.cells.set(column, Number(value));
    else if (value !== "") row.cells.set(column, formatValue({ type, style, value }, book));
  };
  await parseXml(pieces, {
    open(name, attributes) {
      if (name === "row") {
        const { r } = attributes;
        row = { index: r === undefined ? row.index + 1 : Number(r) - 1, cells: new Map() };
        column = -1;
      } else if (name === "c") {
        const named = parseColumn(attributes["r"] ?? "") ?? MAX_COLUMNS;
        column = named < MAX_COLUMNS ? named : column + 1;
        [type, style, value] = [attributes["t"] ?? "n", Number(attributes["s"] ?? 0), ""];
      } else if (name === "v" || name === "t") isValue = true;
      else if (name === "rPh") isValue = false;
    },
    close(name) {
      if (name === "row" && !isDone) isDone = take(row);
      else if (name === "c") endCell();
      else if (name === "v" || name === "t") isValue = false;
    },
    text(text) {
      if (isValue && !isDone) value += text;
    },
    isDone: () => isDone,
  });
};

/** Reads the wanted ones of the texts that a workbook's cells share. */
const readShared = async (
  archive: Archive,
  { strings }: Structure,
  indexes: ReadonlySet<number>,
): Promise<ReadonlyMap<number, string>> => {
  const found = new Map<number, string>();
  const entry = archive.entries.find(({ fileName }) => fileName === strings);
  if (entry === undefined || indexes.size === 0) return found;
  let [index, isText, phonetic, text] = [-1, false, 0, ""];
  await parseXml(archive.pieces(entry), {
    open(name) {
      if (name === "si") {
        index += 1;
        text = "";
      } else if (name === "rPh") phonetic += 1;
      else if (name === "t" && phonetic === 0) isText = indexes.has(index);
    },
    close(name) {
      if (name === "t") isText = false;
      else if (name === "rPh") phonetic -= 1;
      else if (name === "si" && indexes.has(index)) found.set(index, formatText(text));
    },
    text(more) {
      if (isText) text += more;
    },
    isDone: () => found.size === indexes.size,
  });
  return found;
};

const lengthOf = ({ cells }: Row): number => {
  let length = 1;
  for (const cell of cells.values()) {
    length += 1 + (typeof cell === "number" ? SHARED_LENGTH : cell.length);
  }
  return length;
};

/** A row as cells with tabs between them, without what follows a long gap. */
const toLine = ({ cells }: Row, shared: ReadonlyMap<number, string>): string => {
  const line: string[] = [];
  for (const [column, cell] of [...cells].toSorted(([one], [other]) => one - other)) {
    if (column - line.length > MAX_EMPTY) {
      line.push("…");
      break;
    }
    while (line.length < column) line.push("");
    line[column] = typeof cell === "number" ? (shared.get(cell) ?? "") : cell;
  }
  return line.join("\t");
};

const widthOf = (rows: readonly Row[]): number =>
  rows.reduce((width, { cells }) => {
    for (const column of cells.keys()) width = Math.max(width, column + 1);
    return width;
  }, 1);

/** Reads the rows of a sheet that follow one another from an offset on, until they have so many characters. */
export const readRows = async (
  archive: Archive,
  { entry, book }: { entry: Entry; book: Structure },
  offset: number,
  characters: number,
): Promise<Rows> => {
  const taken: Row[] = [];
  let [length, next]: [number, number | null] = [0, null];
  await parseRows(skipRows(archive.pieces(entry), offset), book, (row) => {
    if (row.cells.size === 0 || row.index < offset) return false;
    const previous = taken.at(-1)?.index ?? row.index - 1;
    if (row.index <= previous) return false;
    if (row.index - previous > MAX_GAP + 1 || length > characters) {
      next = row.index;
      return true;
    }
    taken.push(row);
    length += lengthOf(row);
    return false;
  });
  const indexes = new Set(
    taken.flatMap(({ cells }) => [...cells.values()].filter((cell) => typeof cell === "number")),
  );
  const shared = await readShared(archive, book, indexes);
  const first = taken[0]?.index ?? offset;
  const rows: string[] = [];
  for (const row of taken) {
    while (rows.length < row.index - first) rows.push("");
    rows.push(toLine(row, shared));
  }
  return { first, rows, columns: widthOf(taken), next };
};
