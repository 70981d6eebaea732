import { type Fault, Problem } from "../../contract/errors.ts";
import { type DayPattern, parseDay } from "./dates.ts";
import { type Fields, parseCell } from "./fields.ts";
import { collectColumns, type Condition, type Entry, type ImportMap } from "./map.ts";

type Cells = Record<string, unknown>;

export type Mapped =
  | { as: "record"; record: Record<string, unknown>; sourceKey: string | undefined }
  | { as: "skipped" }
  | { as: "refused"; faults: Fault[] };

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

/** Reads a cell by column name, or by a dotted path into nested objects; undefined if it is blank. */
const readCell = (cells: Cells, column: string): unknown => {
  let value: unknown = cells;
  if (Object.hasOwn(cells, column)) {
    value = cells[column];
    return isBlank(value) ? undefined : value;
  }
  for (const name of column.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as Cells)[name];
  }
  return isBlank(value) ? undefined : value;
};

const toText = (value: unknown): string =>
  typeof value === "string" ? value.trim() : JSON.stringify(value);

/** Records a fault of one field of a row. */
type Refuse = (field: string, code: string, message: string) => undefined;

type Dated = { column: string; date?: DayPattern | undefined };

/** Parses a cell as a day, or records a fault. */
const parseDayCell = (
  { column, date }: Dated,
  value: unknown,
  field: string,
  refuse: Refuse,
): string | undefined => {
  const text = toText(value);
  const day = date === undefined ? parseDay(text) : date.read(text);
  const form = date?.pattern ?? "YYYY-MM-DD";
  return day ?? refuse(field, "format", `must be a date as ${form} (column ${column})`);
};

const lookUpValue = (
  column: string,
  values: Record<string, unknown>,
  value: unknown,
  field: string,
  refuse: Refuse,
): unknown => {
  const text = value === undefined ? "" : toText(value);
  if (Object.hasOwn(values, text)) return values[text];
  if (text !== "" && Object.hasOwn(values, "*")) return values["*"];
  const what = text === "" ? "is blank" : "has a value that the map does not list";
  return refuse(field, text === "" ? "required" : "enum", `${what} (column ${column})`);
};

const readEntry = (cells: Cells, entry: Entry, field: string, refuse: Refuse): unknown => {
  if ("value" in entry) return entry.value;
  const { column, date, asOf, values } = entry;
  let value = readCell(cells, column);
  let day: string | undefined;
  if (value !== undefined && (date !== undefined || asOf !== undefined)) {
    day = parseDayCell(entry, value, field, refuse);
    if (day === undefined) return undefined;
    if (asOf !== undefined && day > asOf) value = undefined;
  }
  if (values !== undefined) return lookUpValue(column, values, value, field, refuse);
  return value === undefined || date === undefined ? value : day;
};

const matchesCondition = (cells: Cells, condition: Condition, refuse: Refuse): boolean => {
  const { column } = condition;
  const value = readCell(cells, column);
  if ("equals" in condition) {
    return (value === undefined ? "" : toText(value)) === condition.equals.trim();
  }
  if (value === undefined) return false;
  if ("notEmpty" in condition) return true;
  const day = parseDayCell(condition, value, column, refuse);
  return day !== undefined && day <= condition.notAfter;
};

const LONGEST_NAMES = 400;

const checkColumns = (map: ImportMap, columns: readonly string[]): void => {
  const named = [...collectColumns(map)];
  const missing = named.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    throw new Problem(
      "invalid_request",
      `The map names columns that the file does not have: ${missing.join(", ")}. ` +
        `It has ${columns.join(", ").slice(0, LONGEST_NAMES)}.`,
    );
  }
  const twice = named.filter((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (twice.length === 0) return;
  throw new Problem("invalid_request", `The file has more than one column ${twice.join(", ")}.`);
};

/** Maps each column to the field with the same name. */
const mapByName = (fields: Fields, columns: readonly string[]): ImportMap => ({
  entries: new Map(
    columns.filter((name) => fields.has(name)).map((name) => [name, { column: name }]),
  ),
  where: [],
  sourceKey: undefined,
});

const setPath = (record: Record<string, unknown>, name: string, value: unknown): void => {
  if (!name.includes(".")) {
    record[name] = value;
    return;
  }
  const path = name.split(".");
  const last = path.pop() ?? name;
  let at = record;
  for (const part of path) at = (at[part] ??= {}) as Record<string, unknown>;
  at[last] = value;
};

const readSourceKey = (cells: Cells, columns: readonly string[], refuse: Refuse) => {
  const values = columns.map((column) => readCell(cells, column));
  if (values.every((value) => value === undefined)) {
    return refuse(columns.join(", "), "required", "names the row and is blank");
  }
  return JSON.stringify(values.map((value) => (value === undefined ? null : toText(value))));
};

/** Takes the row's names and JSON types unchanged, without blank values. */
const mapJsonRow = (cells: Cells): Mapped => {
  const given = Object.entries(cells).filter(([, value]) => !isBlank(value));
  return { as: "record", record: Object.fromEntries(given), sourceKey: undefined };
};

/**
 * Creates the function that converts a row's cells to a target's record. `columns` are those of a file with text
 * cells; null for NDJSON, whose rows have names and JSON types.
 *
 * @throws {Problem} invalid_request if the map names columns that the file lacks or repeats
 */
export const createMapping = (
  fields: Fields,
  chosen: ImportMap | undefined,
  columns: readonly string[] | null,
): ((cells: Cells) => Mapped) => {
  const map = chosen ?? (columns === null ? undefined : mapByName(fields, columns));
  if (map === undefined) return mapJsonRow;
  if (columns !== null) checkColumns(map, columns);
  const entries = [...map.entries].map(([name, entry]) => ({
    name,
    entry,
    kind: fields.get(name) ?? "other",
  }));
  return (cells) => {
    const faults: Fault[] = [];
    const refuse: Refuse = (field, code, message) => void faults.push({ field, code, message });
    const keep = map.where.every((condition) => matchesCondition(cells, condition, refuse));
    if (!keep && faults.length === 0) return { as: "skipped" };
    const record: Record<string, unknown> = {};
    for (const { name, entry, kind } of entries) {
      const value = readEntry(cells, entry, name, refuse);
      if (isBlank(value)) continue;
      const isText = columns !== null && typeof value === "string";
      setPath(record, name, isText ? parseCell(kind, value) : value);
    }
    const { sourceKey } = map;
    const key = sourceKey === undefined ? undefined : readSourceKey(cells, sourceKey, refuse);
    return faults.length > 0 ? { as: "refused", faults } : { as: "record", record, sourceKey: key };
  };
};
