import {
  findExceededLimit,
  isRecord,
  LONG_NAME,
  MAX_NUMBER_LENGTH,
  RECORD_LIMITS,
} from "../../kit/json.ts";
import { parseJson } from "../../kit/parse-json.ts";
import { type Item, type Reader, toUnreadable } from "./rows.ts";
import type { Line } from "./lines.ts";

const INVALID = { code: "invalid_json", message: "is not valid JSON" };
const NO_OBJECT = { code: "type", message: "must be a JSON object" };
const BROKEN = {
  depth: { code: "depth", message: `is nested deeper than ${RECORD_LIMITS.depth} levels` },
  arrayLength: {
    code: "too_long",
    message: `has an array of more than ${RECORD_LIMITS.arrayLength} items`,
  },
  names: {
    code: "too_long",
    message: `has more than ${RECORD_LIMITS.names} names of fields`,
  },
  commas: { code: "too_long", message: `has more than ${RECORD_LIMITS.commas} values` },
  containers: {
    code: "too_long",
    message: `has more than ${RECORD_LIMITS.containers} arrays and objects`,
  },
  longNumbers: {
    code: "too_long",
    message: `has more than ${RECORD_LIMITS.longNumbers} numbers of more than 15 digits`,
  },
  longNames: {
    code: "too_long",
    message: `has more than ${RECORD_LIMITS.longNames} names of more than ${LONG_NAME} characters`,
  },
  digits: { code: "too_long", message: `has a number of more than ${MAX_NUMBER_LENGTH} digits` },
};

const parseLine = (line: Line): Item => {
  if (line.fault !== undefined) return toUnreadable(line, line.fault);
  const broken = findExceededLimit(line.text, RECORD_LIMITS);
  if (broken !== undefined) return toUnreadable(line, BROKEN[broken]);
  let value: unknown;
  try {
    value = parseJson(line.text);
  } catch {
    return toUnreadable(line, INVALID);
  }
  return isRecord(value) ? { line: line.number, cells: value } : toUnreadable(line, NO_OBJECT);
};

/** Creates a reader of one JSON object per line; blank lines are skipped. */
export const createNdjsonReader = (): Reader => ({
  columns: () => null,
  push: (lines) => lines.filter(({ text }) => text.trim() !== "").map(parseLine),
  end: () => [],
});
