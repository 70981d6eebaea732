import type { TimeZone } from "../../../kit/time-zone.ts";
import { sanitizeText } from "../../results/sanitize.ts";
import { neutralizeText } from "./neutralize.ts";

/** A column of a table: a field of its rows, or of an object in them. */
export type Column = {
  /** The names of the field and of the objects around it, joined by dots. */
  name: string;
  path: readonly string[];
};

/** A day has the milliseconds of its beginning in UTC; a time those of the local clock as if it were UTC. */
export type Cell =
  | null
  | string
  | number
  | boolean
  | { day: number; text: string }
  | { time: number; text: string };

export type Row = Readonly<Record<string, unknown>>;

/** Fields whose values are days or times, by the names that the contract gives them. */
const DATED = /(?:date|day|[ _]at|asof|until|since)$|[a-z]At$/i;
const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

const toDated = (text: string, { offsetAt }: TimeZone): Cell | undefined => {
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  if (DAY.test(text)) return { day: at, text };
  return TIME.test(text) ? { time: at + offsetAt(at), text } : undefined;
};

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Returns lists and objects as one text: scalars beside each other, anything else as JSON. */
const joinText = (value: object): string =>
  Array.isArray(value) && value.every(isScalar)
    ? value.map((one) => String(one ?? "")).join("; ")
    : JSON.stringify(value);

/** Returns the value at a path within a row; null where it has none. */
export const valueAt = (row: unknown, path: readonly string[]): unknown => {
  let value = row;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
    value = (value as Row)[name];
  }
  return value;
};

/**
 * Returns the value of a row in a column. An amount that no number has exactly comes as text and stays it. Text is without invisible characters, and no spreadsheet
 * computes it.
 */
export const toCell = (row: Row, { path, name }: Column, zone: TimeZone): Cell => {
  const value = valueAt(row, path);
  if (value === null || value === undefined || value === "") return null;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "boolean") return value;
  const text = typeof value === "object" ? joinText(value) : String(value);
  const dated = DATED.test(name) ? toDated(text, zone) : undefined;
  return dated ?? neutralizeText(sanitizeText(text, "stored"));
};

/** Returns a name in the header, which a record of the platform can have chosen. */
export const toHeader = ({ name }: Column): string => neutralizeText(sanitizeText(name, "stored"));
