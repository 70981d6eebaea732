const DAY_MS = 86_400_000;
const SECONDS = 86_400;
/** December 31, 9999. */
const LAST_SERIAL = 2_958_465;
const LEAP_BUG = 60;

/**
 * Converts a serial number to a day and, if it has a fraction, a time (ECMA-376 part 1, 18.17.4). Undefined for a
 * number that is no day: serials of 1900 count the day February 29, 1900, which did not exist.
 */
export const convertSerial = (
  serial: number,
  is1904: boolean,
): { day: string; time: string | undefined } | undefined => {
  const seconds = Math.round(serial * SECONDS);
  const days = Math.floor(seconds / SECONDS);
  const first = is1904 ? 0 : 1;
  if (!(days >= first) || days > LAST_SERIAL || (!is1904 && days === LEAP_BUG)) return undefined;
  const shift = !is1904 && days < LEAP_BUG ? 1 : 0;
  const epoch = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const text = new Date(epoch + (days + shift) * DAY_MS + (seconds % SECONDS) * 1000).toISOString();
  return { day: text.slice(0, 10), time: seconds % SECONDS === 0 ? undefined : text.slice(11, 19) };
};
