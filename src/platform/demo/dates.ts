import { DAY, HOUR, MINUTE } from "../../kit/clock.ts";

const WEEK = 7 * DAY;
/** The epoch began on a Thursday. */
const FIRST_MONDAY = 4 * DAY;
const FRIDAY_EVENING = 4 * DAY + 21 * HOUR;
/** The 51 hours from Friday 21:00 to Monday shrink to the 3 hours that are left of Friday. */
const WEEKEND_FACTOR = 17;

const PLACEHOLDER = /\{(?:(short|compact|mail) )?([-+]\d+)(?:\+(\d+))?(?: (\d\d:\d\d:\d\d))?\}/g;

const getMsSinceMonday = (at: number): number => (at - FIRST_MONDAY) % WEEK;

/** Moves weekend timestamps to the evening of the Friday before, and keeps their order. */
const moveToFriday = (at: number): number => {
  const late = getMsSinceMonday(at) - FRIDAY_EVENING;
  return late <= 0 ? at : at - late + Math.floor(late / WEEKEND_FACTOR);
};

const SHORT = new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric", timeZone: "UTC" });

const format = (style: string | undefined, at: number, hasTime: boolean): string => {
  const text = new Date(at).toISOString();
  if (style === "short") return SHORT.format(at);
  if (style === "compact") return text.slice(0, 10).replaceAll("-", "");
  if (style === "mail") return new Date(at).toUTCString().replace("GMT", "+0000");
  return hasTime ? text : text.slice(0, 10);
};

/**
 * Returns a function that replaces date placeholders such as `{-12}`, `{-12+30}` and `{-12 14:03:22}` (see
 * demo/README.md) by dates relative to `now`. Past days never fall on a weekend, and no past timestamp is after `now`.
 */
export const createDates = (now: number): ((text: string) => string) => {
  // The youngest timestamp of the data is one minute after midnight.
  const today = Math.floor((now - 2 * MINUTE) / DAY) * DAY;
  const resolve = (style: string | undefined, offset: number, more: number, time?: string) => {
    const at = today + offset * DAY + Date.parse(`1970-01-01T${time ?? "00:00:00"}Z`);
    return format(style, (offset > 0 ? at : moveToFriday(at)) + more * DAY, time !== undefined);
  };
  // Three of four placeholders of the data repeat another.
  const known = new Map<string, string>();
  return (text) =>
    text.replace(PLACEHOLDER, (all, style?: string, offset = "", more = "0", time?: string) => {
      const resolved = known.get(all) ?? resolve(style, Number(offset), Number(more), time);
      known.set(all, resolved);
      return resolved;
    });
};
