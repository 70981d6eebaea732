import { isWritable } from "../../kit/clock.ts";
import { convertSerial } from "../../kit/xlsx/serial-days.ts";

/** Names of months and their usual abbreviations, without accents and points, in the languages that exports use. */
const NAMES: readonly string[] = [
  "jan january januar janner janv janvier ene enero gen gennaio januari",
  "feb february februar feber fev fevr fevrier febrero febbraio februari",
  "mar march mars marz maerz mrz marzo mrt maart",
  "apr april avr avril abr abril aprile",
  "may mai mayo mag maggio mei",
  "jun june juni juin junio giu giugno",
  "jul july juli juil juillet julio lug luglio",
  "aug august aou aout ago agosto augustus",
  "sep sept september septembre septiembre set sett settembre",
  "oct october okt oktober octobre octubre ott ottobre",
  "nov november novembre noviembre",
  "dec december dez dezember decembre dic diciembre dicembre",
];

const MONTHS: ReadonlyMap<string, string> = new Map(
  NAMES.flatMap((names, index) =>
    names.split(" ").map((name): [string, string] => [name, String(index + 1).padStart(2, "0")]),
  ),
);

const ACCENTS = /\p{M}/gu;

/** Returns the number of a month, `01` to `12`, by its name in English, German, French, Spanish, Italian or Dutch. */
const findMonth = (name: string): string | undefined =>
  MONTHS.get(name.toLowerCase().normalize("NFD").replaceAll(ACCENTS, "").replace(/\.$/, ""));

/** The date format of a column: parts such as `YYYY`, `MM` and `DD`, with literal text between them. */
export type DayPattern = { pattern: string; read(text: string): string | undefined };

type Part = { source: string; group?: string; isOpen?: boolean; isWord?: boolean };

// Parts whose number of digits is not fixed are open.
const PARTS: Readonly<Record<string, Part>> = {
  YYYY: { source: "(?<year>\\d{4})", group: "year" },
  YY: { source: "(?<year>\\d{2})", group: "year" },
  MMM: { source: "(?<name>\\p{L}{3,12}\\.?)", group: "month", isWord: true },
  MM: { source: "(?<month>\\d{2})", group: "month" },
  M: { source: "(?<month>\\d{1,2})", group: "month", isOpen: true },
  DD: { source: "(?<day>\\d{2})", group: "day" },
  D: { source: "(?<day>\\d{1,2})", group: "day", isOpen: true },
  HH: { source: "(?:[01]\\d|2[0-3])" },
  H: { source: "(?:1?\\d|2[0-3])", isOpen: true },
  hh: { source: "(?:0\\d|1[0-2])" },
  h: { source: "(?:\\d|1[0-2])", isOpen: true },
  mm: { source: "[0-5]\\d" },
  ss: { source: "[0-5]\\d" },
  SSS: { source: "\\d{3}" },
  A: { source: "(?:AM|PM|am|pm)", isWord: true },
};

/** The pattern of days as spreadsheets number them: 1 is January 1, 1900. */
export const SERIAL = "serial";
const SERIAL_DAY = /^\d{1,7}(?:\.\d{1,17})?$/;

/** The parts of patterns, for messages. */
export const PATTERN_PARTS =
  "YYYY or YY, M, MM or MMM, and D or DD; for a time H or HH (h or hh with A), mm, ss and SSS; or " +
  `${SERIAL}, for the numbers of days in spreadsheets`;

const SPLIT = /(YYYY|YY|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|SSS|A)/;

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Formats a day as `YYYY-MM-DD`; undefined if the calendar does not have it. */
export const formatDay = (year: string, month: string, day: string): string | undefined => {
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // February 30 would become March 2.
  const isDay = at.getUTCFullYear() === Number(year) && at.getUTCMonth() === Number(month) - 1;
  return isDay ? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` : undefined;
};

const MAX_CACHED_DAYS = 10_000;

// A ledger has many rows and few distinct days.
const cacheDays = (read: (text: string) => string | undefined) => {
  const known = new Map<string, string>();
  return (text: string): string | undefined => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const day = read(text);
    if (known.size >= MAX_CACHED_DAYS) known.clear();
    if (day !== undefined) known.set(text, day);
    return day;
  };
};

const PIVOT = 70;

/** Completes a year of two digits to one from 1970 to 2069. */
export const completeYear = (year: string): string =>
  year.length === 4 ? year : `${Number(year) < PIVOT ? "20" : "19"}${year}`;

/** Returns whether a part of open length touches another one of digits, so that text would have several readings. */
const hasOpenEnds = (pieces: readonly string[]): boolean =>
  pieces.some((piece, place) => {
    const next = pieces[place + 1] === "" ? pieces[place + 2] : undefined;
    const [one, other] = [PARTS[piece], PARTS[next ?? ""]];
    if (one === undefined || other === undefined || one.isWord || other.isWord) return false;
    return one.isOpen === true || other.isOpen === true;
  });

/**
 * Parses a pattern; undefined unless it names year, month and day exactly once each and has one reading.
 */
export const parseDayPattern = (pattern: string): DayPattern | undefined => {
  if (pattern.trim() === SERIAL) {
    const read = (text: string): string | undefined =>
      SERIAL_DAY.test(text) ? convertSerial(Number(text), false)?.day : undefined;
    return { pattern: SERIAL, read: cacheDays(read) };
  }
  const pieces = pattern.trim().split(SPLIT);
  const groups = pieces.flatMap((piece) => PARTS[piece]?.group ?? []);
  if (groups.toSorted().join(" ") !== "day month year" || hasOpenEnds(pieces)) return undefined;
  const source = pieces.map((piece) => PARTS[piece]?.source ?? escapePattern(piece)).join("");
  const expression = new RegExp(`^${source}$`, "u");
  const read = (text: string): string | undefined => {
    const { year, month, name, day } = expression.exec(text)?.groups ?? {};
    const number = name === undefined ? month : findMonth(name);
    if (year === undefined || number === undefined || day === undefined) return undefined;
    return formatDay(completeYear(year), number, day);
  };
  return { pattern, read: cacheDays(read) };
};

const ISO = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Parses a day as `YYYY-MM-DD`; undefined if the text is anything else. */
export const parseIsoDay = cacheDays((text) => {
  const [, year, month, day] = ISO.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return formatDay(year, month, day);
});

const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Parses an RFC 3339 timestamp, or a day as its midnight in UTC, to milliseconds since the epoch; else undefined. */
export const parseTimestamp = (text: string): number | undefined => {
  const day = parseIsoDay(text) ?? parseIsoDay(TIMESTAMP.exec(text)?.[1] ?? "");
  if (day === undefined) return undefined;
  const at = Date.parse(text.toUpperCase());
  return isWritable(at) ? Math.floor(at) : undefined;
};

// Databases and spreadsheets write a space instead of the T, and no offset.
const WRITTEN =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt]| {1,2})(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?: ?(?:[Zz]|UTC|[+-](?:[01]\d|2[0-3]):?[0-5]\d))?$/;

/** Returns the day that is written in a day or timestamp, regardless of its time and offset. */
export const parseDay = cacheDays(
  (text) => parseIsoDay(text) ?? parseIsoDay(WRITTEN.exec(text)?.[1] ?? ""),
);
