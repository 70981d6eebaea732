import { PLAIN } from "../../../kit/xlsx/formats.ts";
import { convertSerial } from "../../../kit/xlsx/serial-days.ts";
import type { Structure } from "../../../kit/xlsx/structure.ts";

const DIGITS = 15;
const MAX_CELL = 2000;

/** Formats a number with the digits that a spreadsheet has: 0.1 + 0.2 is 0.3. */
const formatNumber = (value: number): string => String(Number(value.toPrecision(DIGITS)));

/** Formats the number of a day as a date, with its time if it has one; below 1 it is a time. */
const formatDate = (serial: number, is1904: boolean): string => {
  const isTime = serial >= 0 && serial < 1;
  const found = convertSerial(isTime ? serial + 1 : serial, is1904);
  if (found === undefined) return formatNumber(serial);
  const { day, time } = found;
  const short = (time ?? "00:00:00").replace(/:00$/, "");
  if (isTime) return short;
  return time === undefined ? day : `${day} ${short}`;
};

/** A cell's text on one line. */
export const formatText = (text: string): string => {
  const line = text.replaceAll(/[\t\n\r]/g, " ");
  return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL)}…` : line;
};

/** Formats the value of a cell that is no shared text. */
export const formatValue = (
  { type, style, value }: { type: string; style: number; value: string },
  { formats, is1904 }: Structure,
): string => {
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type !== "n" || value === "") return formatText(value);
  const number = Number(value);
  if (Number.isNaN(number)) return formatText(value);
  const { kind } = formats[style] ?? PLAIN;
  return kind === "number" ? formatNumber(number) : formatDate(number, is1904);
};
