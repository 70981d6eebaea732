import { openCalendar } from "../../../contract/insights/calendar.ts";
import { placeDays } from "../../../contract/insights/payment-days.ts";
import type { Fields } from "../host.ts";

/** One group of a summary. */
export type Group = { key: Fields; currencyCode: unknown; item: Fields };

/** The fields of each payment source that the explorer offers; the names are those of the payment schema. */
export type Source = {
  title: string;
  amount: string;
  /** The field by which a person looks for a customer. */
  name: string;
  groupings: readonly string[];
  /** The columns of the rows behind a figure. */
  columns: readonly string[];
};

const DATES = ["month", "quarter", "year", "week", "day"].map((unit) => `paymentDate:${unit}`);

export const SOURCES: Readonly<Record<string, Source>> = {
  cashapp: {
    title: "Cash application",
    amount: "paymentAmount",
    name: "payerName",
    groupings: [
      ...DATES,
      "payerName",
      "accountName",
      "paymentMethod",
      "applicationStatus",
      "matchMethod",
      "remittanceSource",
      "deductionReasonCode",
    ],
    columns: [
      "paymentDate",
      "payerName",
      "paymentMethod",
      "documentNumber",
      "currencyCode",
      "paymentAmount",
      "appliedAmount",
      "deductionAmount",
    ],
  },
  iandp: {
    title: "Invoicing and payments",
    amount: "amountPaid",
    name: "accountName",
    groupings: [
      ...DATES,
      "accountName",
      "paymentMethod",
      "paymentStatus",
      "failureCode",
      "cardBrand",
      "paymentSource",
    ],
    columns: [
      "paymentDate",
      "accountName",
      "paymentMethod",
      "paymentStatus",
      "invoiceNumber",
      "currencyCode",
      "invoiceAmount",
      "amountPaid",
    ],
  },
  bpn: {
    title: "Business payments network",
    amount: "paymentAmount",
    name: "payerName",
    groupings: [
      ...DATES,
      "payerName",
      "supplierName",
      "paymentMethod",
      "deliveryStatus",
      "adjustmentReasonCode",
    ],
    columns: [
      "paymentDate",
      "payerName",
      "paymentMethod",
      "invoiceNumber",
      "currencyCode",
      "paymentAmount",
      "amountPaid",
      "adjustmentAmount",
    ],
  },
};

const DEFAULT_SOURCE = "cashapp";

export const sourceOf = (name: unknown): Source & { id: string } => {
  const id = typeof name === "string" && name in SOURCES ? name : DEFAULT_SOURCE;
  return { id, ...(SOURCES[id] as Source) };
};

const LAST_MONTHS: Record<string, string> = { "1": "03", "2": "06", "3": "09", "4": "12" };
const LAST_DAY = 31;
const DAY_MS = 86_400_000;

const monthEnd = (month: string): string => {
  const [year, number] = month.split("-").map(Number);
  const last = new Date(Date.UTC(year ?? 0, number ?? 1, 0)).getUTCDate();
  return `${month}-${last}`;
};

/** Returns the first and last day of a week such as `2023-W07`. */
const weekDays = (week: string): [string, string] => {
  const [year, number] = week.split("-W").map(Number);
  // The fourth of January is always in the first week.
  const fourth = Date.UTC(year ?? 0, 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS;
  const first = monday + ((number ?? 1) - 1) * 7 * DAY_MS;
  const text = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return [text(first), text(first + 6 * DAY_MS)];
};

/** Returns the first and last day of a span such as `2023`, `2023-Q2`, `2023-05`, `2023-W07` or `2023-05-17`. */
export const spanDays = (span: string): [string, string] => {
  if (span.includes("-W")) return weekDays(span);
  const [year = "", rest] = span.split("-");
  if (rest === undefined) return [`${year}-01-01`, `${year}-12-${LAST_DAY}`];
  if (rest.startsWith("Q")) {
    const last = LAST_MONTHS[rest.slice(1)] ?? "12";
    const first = String(Number(last) - 2).padStart(2, "0");
    return [`${year}-${first}-01`, monthEnd(`${year}-${last}`)];
  }
  return span.length > "2023-05".length ? [span, span] : [`${span}-01`, monthEnd(span)];
};

/** The type of a field by its name; the schema of payments holds to this. */
const dateTypeOf = (field: string): "date" | "datetime" | undefined => {
  if (field.endsWith("At")) return "datetime";
  return field.endsWith("Date") ? "date" : undefined;
};

/** Returns filters of a summary as filters of rows, whose days would otherwise be those of UTC. */
export const rowFilters = (filters: Fields, timeZone: string): Fields =>
  placeDays(dateTypeOf, filters, openCalendar(timeZone));

/** Returns the condition that selects the rows of a group. */
export const groupFilter = (key: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(key).map(([name, value]) => {
      const [field = "", unit] = name.split(":");
      if (value === null) return [field, { isNull: true }];
      return [field, unit === undefined ? { eq: value } : { between: spanDays(String(value)) }];
    }),
  );
