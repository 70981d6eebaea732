/** Formats values of records for people. Each returns plain text, which is never parsed as HTML. */

let locale: string | undefined;
let timeZone: string | undefined;

/** Sets the language and time zone of the host. */
export const setLocale = (language?: string, zone?: string): void => {
  locale = language;
  timeZone = zone;
};

let tenantDays = new Intl.DateTimeFormat("en-CA", { timeZone: "UTC" });

/** Sets the time zone whose days the server counts, as the filter of an answer names it. */
export const setTenantZone = (zone: unknown): void => {
  if (typeof zone !== "string" || zone === tenantDays.resolvedOptions().timeZone) return;
  try {
    tenantDays = new Intl.DateTimeFormat("en-CA", { timeZone: zone });
  } catch {
    // The browser knows fewer zones than the server: the days of the former one are near.
  }
};

/** Returns the time zone whose days the server counts. */
export const tenantZone = (): string => tenantDays.resolvedOptions().timeZone;

/** Returns the tenant's day of a point in time, such as `2026-01-31`; a day stays as it is. */
export const tenantDay = (text: string): string => {
  const at = text.includes("T") ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) return text.slice(0, "2026-01-31".length);
  const parts = new Map(tenantDays.formatToParts(at).map(({ type, value }) => [type, value]));
  return [parts.get("year"), parts.get("month"), parts.get("day")].join("-");
};

type Exact = number | string;

/** Returns a value as text. Structured values hold text as it is stored, and a view shows it so. */
export const plainText = (value: unknown): string =>
  value === null || value === undefined ? "" : String(value);

const isCurrency = (code: unknown): code is string =>
  typeof code === "string" && /^[A-Z]{3}$/.test(code);

const isExact = (value: unknown): value is Exact =>
  typeof value === "number" || (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value));

const numberOptions = (currency: unknown, isShort: boolean): Intl.NumberFormatOptions => ({
  ...(isCurrency(currency) ? { style: "currency", currency, currencyDisplay: "code" } : {}),
  ...(isShort ? { notation: "compact", maximumFractionDigits: 1 } : {}),
});

/** Formats an amount with its currency's code and decimals, digit for digit. */
export const money = (amount: unknown, currency: unknown, isShort = false): string => {
  if (!isExact(amount)) return "–";
  const format = new Intl.NumberFormat(locale, numberOptions(currency, isShort));
  const text = format.format(amount as Intl.StringNumericLiteral);
  return isCurrency(currency) || typeof currency !== "string" || currency === ""
    ? text
    : `${text} ${plainText(currency)}`;
};

export const count = (value: unknown): string =>
  typeof value === "number" ? new Intl.NumberFormat(locale).format(value) : "–";

/** Formats a number with its noun: `1 dispute`, `12 disputes`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${value === 1 ? noun : `${noun}s`}`;

/** Says how many days are left to decide; negative ones are over. */
export const describeDaysLeft = (days: number): string => {
  if (days === 0) return "Decision due today";
  return days > 0
    ? `${counted(days, "day")} left to decide`
    : `Decision ${counted(-days, "day")} overdue`;
};

/** Formats a day such as `2026-01-31`, or the tenant's day of a point in time; other text stays as it is. */
export const day = (value: unknown): string => {
  const text = plainText(value);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(`${tenantDay(text)}T00:00:00Z`) : NaN;
  if (Number.isNaN(at)) return text === "" ? "–" : text;
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }).format(at);
};

/** Formats a day, or a point in time in the host's time zone. */
export const formatMoment = (value: unknown): string => {
  const text = plainText(value);
  const at = text.includes("T") ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) return day(text);
  const options = { dateStyle: "medium", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat(locale, {
    ...options,
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(at);
};

/** Formats a span of time that a grouping such as `paymentDate:month` has made; other values stay as they are. */
export const span = (grouping: string, value: string): string => {
  const isMonth = grouping.endsWith(":month") && /^\d{4}-\d{2}$/.test(value);
  if (grouping.endsWith(":day")) return day(value);
  if (!isMonth) return value;
  const options = { month: "short", year: "numeric", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(locale, options).format(Date.parse(`${value}-01T00:00:00Z`));
};

/** Turns a name such as `daysPastDue` or `payment_method` into words. */
export const words = (name: string): string => {
  const text = name
    .replaceAll("_", " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** Formats any cell of a row by the type of its value and the name of its field. */
export const cell = (name: string, value: unknown, currency?: unknown): string => {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (/(amount|balance|taken)$/i.test(name)) return money(value, currency);
  return /(date|At)$/i.test(name) ? day(value) : plainText(value);
};
