/** Where time comes from. Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** A moment as the interface writes it: UTC, milliseconds, `Z`. */
export const iso = (ms: number): string => new Date(ms).toISOString();

const FIRST_YEAR = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_YEAR = Date.parse("9999-12-31T23:59:59.999Z");

/** Whether a moment in UTC can be written with a year of four digits; an offset may lead out of them. */
export const isWritable = (ms: number): boolean => ms >= FIRST_YEAR && ms <= LAST_YEAR;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
