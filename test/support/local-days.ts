/** Days as the calendars of the JavaScript engine show them, one moment at a time, without tables of offsets. */

/** Zones with summer time, half hours, skipped days, changes at midnight, a fast in summer, and none of it. */
export const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Pacific/Apia",
  "America/Sao_Paulo",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "UTC",
] as const;

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("en-US", { timeZone, ...parts });
  formats.set(timeZone, format);
  return format;
};

/** Returns the day that local clocks show at a moment. */
export const localDay = (timeZone: string, moment: number): string => {
  const parts = formatOf(timeZone).formatToParts(moment);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
};

/** Returns the days from one day to another. */
export const daysApart = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / 86_400_000;
