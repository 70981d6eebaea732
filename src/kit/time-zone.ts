import { DAY, HOUR, MINUTE, SECOND } from "./clock.ts";

/** From a moment on, local clocks are ahead of UTC by so many milliseconds. */
export type OffsetChange = { at: number; offset: number };

/** The clocks of a place. Its data are those of the JavaScript engine (IANA). */
export type TimeZone = {
  /** The IANA name, such as `Europe/Berlin`. */
  name: string;
  /** Returns the milliseconds by which local clocks are ahead of UTC at a moment; 0 for an unreadable one. */
  offsetAt(moment: number): number;
  /** Lists the changes after one moment up to another, oldest first. */
  listChanges(after: number, upTo: number): readonly OffsetChange[];
};

export const UTC: TimeZone = { name: "UTC", offsetAt: () => 0, listChanges: () => [] };

/** No zone has changed its clocks twice within so short a time and back again. */
const PROBE_MS = 7 * DAY;
/** Clocks showed the mean time of their place until then. */
const FIRST_YEAR = 1800;

const createFormat = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

const readOffset = (format: Intl.DateTimeFormat, timestamp: number): OffsetChange => {
  const [, sign, hours, minutes, seconds] = OFFSET.exec(format.format(timestamp)) ?? [];
  const ahead = Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE;
  const offset = ahead + Number(seconds ?? 0) * SECOND;
  return { at: timestamp, offset: sign === "-" ? -offset : offset };
};

/** Finds the changes after one probe up to another, to the second, by halving the time between them. */
const findBetween = (
  format: Intl.DateTimeFormat,
  first: OffsetChange,
  last: OffsetChange,
): OffsetChange[] => {
  if (first.offset === last.offset) return [];
  const span = last.at - first.at;
  if (span <= SECOND) return [last];
  const middle = readOffset(format, first.at + Math.floor(span / 2 / SECOND) * SECOND);
  return [...findBetween(format, first, middle), ...findBetween(format, middle, last)];
};

/** The offset at the beginning of a year of UTC, and its changes up to the beginning of the next one. */
type Year = { offset: number; changes: readonly OffsetChange[] };

const readYear = (format: Intl.DateTimeFormat, year: number): Year => {
  const end = Date.UTC(year + 1, 0, 1);
  const first = readOffset(format, Date.UTC(year, 0, 1));
  const changes: OffsetChange[] = [];
  let known = first;
  while (known.at < end) {
    const next = readOffset(format, Math.min(end, known.at + PROBE_MS));
    changes.push(...findBetween(format, known, next));
    known = next;
  }
  return { offset: first.offset, changes };
};

const yearOf = (timestamp: number): number =>
  Math.max(FIRST_YEAR, new Date(timestamp).getUTCFullYear());

/** Creates a zone that reads each year when it is first asked for, in less than a millisecond. */
const createZone = (name: string, format: Intl.DateTimeFormat): TimeZone => {
  const years = new Map<number, Year>();
  // Moments that follow each other are mostly in the same part of a year.
  let part = { from: Infinity, until: -Infinity, offset: 0 };

  const open = (year: number): Year => {
    const known = years.get(year) ?? readYear(format, year);
    years.set(year, known);
    return known;
  };

  return {
    name,
    offsetAt(timestamp) {
      if (timestamp >= part.from && timestamp < part.until) return part.offset;
      if (Number.isNaN(timestamp)) return 0;
      const year = yearOf(timestamp);
      const { offset, changes } = open(year);
      const start = { at: Date.UTC(year, 0, 1), offset };
      const last = changes.findLast(({ at }) => at <= timestamp) ?? start;
      const next = changes.find(({ at }) => at > timestamp)?.at ?? Date.UTC(year + 1, 0, 1);
      part = { from: last.at, until: next, offset: last.offset };
      return last.offset;
    },
    listChanges(after, upTo) {
      const found: OffsetChange[] = [];
      for (let year = yearOf(after); year <= yearOf(upTo); year += 1) {
        found.push(...open(year).changes.filter(({ at }) => at > after && at <= upTo));
      }
      return found;
    },
  };
};

const ofName = (name: string): TimeZone | undefined => {
  try {
    const format = createFormat(name);
    const known = format.resolvedOptions().timeZone;
    if (known === UTC.name) return UTC;
    // The engine resolves some names to an older alias: Asia/Kolkata to Asia/Calcutta.
    return createZone(known.toLowerCase() === name.toLowerCase() ? known : name, format);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

// Offsets such as +01:00 are no places, although some engines take them.
const IANA_NAME = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/;

const zones = new Map<string, TimeZone>();

/** Finds the time zone with an IANA name, in any letter case; undefined if there is none. */
export const findTimeZone = (name: string): TimeZone | undefined => {
  const known = zones.get(name);
  if (known !== undefined || !IANA_NAME.test(name)) return known;
  const found = ofName(name);
  if (found !== undefined) zones.set(name, found);
  return found;
};
