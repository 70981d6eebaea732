/** Returns the current time in milliseconds since the epoch. Injected, so that tests can set it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Formats a timestamp as the interface writes it: ISO 8601, UTC, milliseconds, `Z`. */
export const formatTimestamp = (ms: number): string => new Date(ms).toISOString();

/** Formats a time that a record may lack. */
export const formatIfAny = (ms: number | null): string | null =>
  ms === null ? null : formatTimestamp(ms);

/** Formats a time as its day, such as `2026-01-31`. */
export const formatDay = (ms: number): string => formatTimestamp(ms).slice(0, 10);

const FIRST_YEAR = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_YEAR = Date.parse("9999-12-31T23:59:59.999Z");

/** Whether a timestamp has a UTC year of four digits. A time zone offset can lead outside that range. */
export const isWritable = (ms: number): boolean => ms >= FIRST_YEAR && ms <= LAST_YEAR;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
