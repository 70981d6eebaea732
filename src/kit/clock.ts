/** Where time comes from. Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** A moment as the interface writes it: UTC, milliseconds, `Z`. */
export const iso = (ms: number): string => new Date(ms).toISOString();

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
