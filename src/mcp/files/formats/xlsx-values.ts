import type { Archive } from "./archive.ts";
import { parseXml } from "./xml-text.ts";

const DIGITS = 15;
const MAX_CELL = 2000;

/** Formats a number with the digits that a spreadsheet has: 0.1 + 0.2 is 0.3. */
const formatNumber = (value: number): string => String(Number(value.toPrecision(DIGITS)));

/** Milliseconds of day 0 of the two calendars of spreadsheets. */
const START_1900 = Date.UTC(1899, 11, 30);
const START_1904 = Date.UTC(1904, 0, 1);
const DAY_SECONDS = 86_400;
const MAX_DAY = 2_958_466;
/** The calendar of 1900 counts a 29 February that never was. */
const FIRST_RIGHT_DAY = 60;

/** Formats the number of a day as a date, with its time if it has one; below 1 it is a time. */
const formatDate = (serial: number, is1904: boolean): string => {
  if (!(serial >= 0 && serial < MAX_DAY)) return formatNumber(serial);
  const seconds = Math.round(serial * DAY_SECONDS);
  const shift = !is1904 && serial < FIRST_RIGHT_DAY ? DAY_SECONDS : 0;
  const date = new Date((is1904 ? START_1904 : START_1900) + (seconds + shift) * 1000);
  const [day = "", rest = ""] = date.toISOString().split("T");
  const time = rest.slice(0, seconds % 60 === 0 ? "00:00".length : "00:00:00".length);
  if (serial < 1) return time;
  return seconds % DAY_SECONDS === 0 ? day : `${day} ${time}`;
};

/** A cell's text on one line. */
export const formatText = (text: string): string => {
  const line = text.replaceAll(/[\t\n\r]/g, " ");
  return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL)}…` : line;
};

const BUILT_IN_DATES = new Set([
  14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 45, 46, 47, 50, 51,
  52, 53, 54, 55, 56, 57, 58,
]);

/** Whether a number format shows a date or a time: it has one of their letters outside quotes and brackets. */
const isDateFormat = (format: string): boolean => {
  const bare = format.replaceAll(/"[^"]*"|\[[^[\]]*\]|\\./g, "");
  return /[dmyhs]/i.test(bare) && !/[#?]|general|0\.0/i.test(bare);
};

export type Formats = { isDate(style: number): boolean; is1904: boolean };

/** Reads which styles of a workbook show dates. */
export const readDateStyles = async (archive: Archive): Promise<Formats["isDate"]> => {
  const entry = archive.entries.find(({ fileName }) => fileName === "xl/styles.xml");
  if (entry === undefined) return () => false;
  const formats = new Map<string, string>();
  const styles: string[] = [];
  let isInStyles = false;
  await parseXml(archive.pieces(entry), {
    open(name, { numFmtId = "", formatCode = "" }) {
      if (name === "numFmt") formats.set(numFmtId, formatCode);
      else if (name === "cellXfs") isInStyles = true;
      else if (name === "xf" && isInStyles) styles.push(numFmtId);
    },
    close(name) {
      if (name === "cellXfs") isInStyles = false;
    },
    text() {},
  });
  const dates = styles.map((id) => {
    const format = formats.get(id);
    return format === undefined ? BUILT_IN_DATES.has(Number(id)) : isDateFormat(format);
  });
  return (style) => dates[style] === true;
};

/** Formats the value of a cell that is no shared text. */
export const formatValue = (
  { type, style, value }: { type: string; style: number; value: string },
  { isDate, is1904 }: Formats,
): string => {
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type !== "n" || value === "") return formatText(value);
  const number = Number(value);
  if (Number.isNaN(number)) return formatText(value);
  return isDate(style) ? formatDate(number, is1904) : formatNumber(number);
};
