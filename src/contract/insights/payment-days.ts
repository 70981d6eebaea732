import { z } from "zod";
import { formatTimestamp, isWritable } from "../../kit/clock.ts";
import { isRecord } from "../../kit/json.ts";
import { findField, type Source } from "../payments/catalogue.ts";
import type { Calendar } from "./calendar.ts";

const DAY = z.regexes.date;
const TIME = z.regexes.datetime({ offset: true });

/** Converts a day for a date-time to its first moment, and a time for a date to its day; leaves all else to the check. */
const placeValue = (type: "date" | "datetime", value: unknown, calendar: Calendar): unknown => {
  if (typeof value !== "string") return value;
  if (type === "datetime" && DAY.test(value)) return formatTimestamp(calendar.startOf(value));
  const isTime = type === "date" && TIME.test(value) && isWritable(Date.parse(value));
  return isTime ? calendar.toDay(value) : value;
};

const placeCondition = (source: Source, name: string, sent: unknown, calendar: Calendar) => {
  const type = findField(source, name)?.type;
  if ((type !== "date" && type !== "datetime") || !isRecord(sent)) return sent;
  const place = (value: unknown): unknown => placeValue(type, value, calendar);
  return Object.fromEntries(
    Object.entries(sent).map(([operator, value]) => [
      operator,
      Array.isArray(value) ? value.map(place) : place(value),
    ]),
  );
};

/** Deeper filters are refused. */
const MAX_DEPTH = 20;

/**
 * Returns filters of payments in which the tenant's days are points in time where a field has the time, and times are
 * the tenant's days where a field has a date. What is no filter stays as it is, for the check to refuse.
 */
export const placeDays = (
  source: Source,
  filters: Readonly<Record<string, unknown>>,
  calendar: Calendar,
  depth = 0,
): Record<string, unknown> => {
  const placeGroup = (part: unknown): unknown =>
    isRecord(part) && depth < MAX_DEPTH ? placeDays(source, part, calendar, depth + 1) : part;
  return Object.fromEntries(
    Object.entries(filters).map(([name, sent]) => {
      if (name === "not") return [name, placeGroup(sent)];
      if (name === "and" || name === "or") {
        return [name, Array.isArray(sent) ? sent.map(placeGroup) : sent];
      }
      return [name, placeCondition(source, name, sent, calendar)];
    }),
  );
};
