import { type Fault, Problem } from "../../contract/errors.ts";
import { abbreviate } from "../../contract/payments/value.ts";
import { findNearest, offerNames } from "../../kit/nearest.ts";
import { type Cells, readCell } from "./cells.ts";
import type { Entry } from "./map-schema.ts";
import type { Fields } from "./fields.ts";
import { collectColumns, type ImportMap, listEntryColumns } from "./map.ts";

const LONGEST_NAMES = 400;
const MOST_UNKNOWN = 20;

const listNames = (names: readonly string[]): string => {
  const text = names.join(", ");
  return text.length > LONGEST_NAMES ? `${text.slice(0, LONGEST_NAMES)}…` : text;
};

/** Maps each column to the field with the same name. */
export const mapByName = (fields: Fields, columns: readonly string[]): ImportMap => ({
  entries: new Map(
    columns
      .filter((name) => fields.has(name))
      .map((name) => [name, { from: "column", column: name } as const]),
  ),
  where: [],
  sourceKey: undefined,
});

/** Names the columns that match no field, each with the nearest field. */
export const describeUnknownColumns = (fields: Fields, columns: readonly string[]): string => {
  const names = [...fields.keys()];
  const unknown = columns.filter((name) => name !== "" && !fields.has(name));
  const shown = unknown
    .slice(0, MOST_UNKNOWN)
    .map((name) => `${abbreviate(name)}${offerNames(findNearest(name, names)).replace(/\?$/, "")}`);
  const more = unknown.length > MOST_UNKNOWN ? ` and ${unknown.length - MOST_UNKNOWN} more` : "";
  return `${shown.join(", ")}${more}`;
};

/**
 * Checks that each required field of the target has a source.
 *
 * @throws {Problem} invalid_request with the columns of the file that match no field
 */
export const checkRequiredFields = (
  fields: Fields,
  map: ImportMap,
  columns: readonly string[] | null,
  isByName: boolean,
): void => {
  const groups = new Map<string, string[]>();
  for (const [name, { required }] of fields) {
    if (required !== undefined) groups.set(required, [...(groups.get(required) ?? []), name]);
  }
  const missing = [...groups.values()].filter((names) =>
    names.every((name) => !map.entries.has(name)),
  );
  if (missing.length === 0) return;
  const needed = missing.map((names) => names.join(" or ")).join(", ");
  if (!isByName) throw new Problem("invalid_request", `The map gives no ${needed}. Add it.`);
  const unknown = columns === null ? "" : describeUnknownColumns(fields, columns);
  const others =
    unknown === "" ? "" : ` These columns match no field: ${unknown}. Rename them, or give a map.`;
  throw new Problem("invalid_request", `The file has no column ${needed}.${others}`);
};

/**
 * Checks that the file has each column that the map names, once.
 *
 * @throws {Problem} invalid_request with the columns that are missing or repeated
 */
export const checkColumns = (map: ImportMap, columns: readonly string[]): void => {
  const named = [...collectColumns(map)];
  const missing = named.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    throw new Problem(
      "invalid_request",
      `The map names columns that the file does not have: ${listNames(missing)}. ` +
        `It has ${listNames(columns)}.`,
    );
  }
  const twice = named.filter((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (twice.length === 0) return;
  throw new Problem(
    "invalid_request",
    `The file has more than one column ${listNames(twice)}. Rename one of them.`,
  );
};

const hasDateFormat = (entry: Entry | undefined): boolean =>
  entry !== undefined && "date" in entry && entry.date !== undefined;

/**
 * Creates a function that adds the columns and values of a row to its fault, if its message does not name them yet.
 */
export const createLocator = (
  fields: Fields,
  chosen: ImportMap | undefined,
  columns: readonly string[] | null,
): ((fault: Fault, cells: Cells) => Fault) => {
  const map = chosen ?? mapByName(fields, columns ?? [...fields.keys()]);
  return (fault, cells) => {
    const entry = map.entries.get(fault.field);
    const named = entry === undefined ? [] : listEntryColumns(entry);
    if (named.length === 0 || fault.message.includes("(column ")) return fault;
    const values = named.map((name) => readCell(cells, name));
    const given = values.filter((value) => value !== undefined);
    const value = given.length === 0 ? "blank" : `value ${given.map(abbreviate).join(", ")}`;
    const { role } = fields.get(fault.field) ?? {};
    const isOtherForm =
      role === "day" && fault.code === "format" && given.length > 0 && !hasDateFormat(entry);
    const advice = isOtherForm
      ? `; for another form, name it in the map: {"column": ${JSON.stringify(named[0])}, "date": "D.M.YYYY"}`
      : "";
    const column = `column ${abbreviate(named.join(", "))}`;
    return { ...fault, message: `${fault.message} (${column}, ${value})${advice}` };
  };
};
