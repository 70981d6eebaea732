import { numberOf } from "../answers.ts";
import type { Fields } from "../host.ts";
import { plainText, tenantDay, words } from "../format.ts";
import type { Condition } from "../ui/conditions.tsx";

const DAY_MS = 86_400_000;

/** The arguments that the board's own controls set; all others are shown as removable conditions. */
const CONTROLLED = [
  "accountName",
  "assignee",
  "unassigned",
  "reason",
  "currencyCode",
  "createdFrom",
  "createdTo",
  "documentStatus",
  "updatedBefore",
  "orderBy",
  "limit",
];

/** As many rows as fit into one answer of the server. */
const LIMIT = 25;

export const withLimit = (args: Fields): Fields => ({
  ...args,
  limit: Math.max(LIMIT, numberOf(args["limit"])),
});

/** Returns the arguments with some changed; undefined and empty ones are left out. */
export const changed = (args: Fields, change: Fields): Fields =>
  Object.fromEntries(
    Object.entries({ ...args, ...change }).filter(
      ([, value]) => value !== undefined && value !== "",
    ),
  );

/** Returns the conditions that came with the call and have no control, as text. */
export const otherConditions = (args: Fields): Condition[] =>
  Object.entries(args)
    .filter(([name]) => !CONTROLLED.includes(name))
    .map(([name, value]) => ({
      name,
      text: `${words(name)}: ${plainText(Array.isArray(value) ? value.join(", ") : value)}`,
    }));

const daysBefore = (asOf: string, days: number): string =>
  new Date(Date.parse(tenantDay(asOf)) - days * DAY_MS).toISOString().slice(0, 10);

/** Returns the days of creation of an age bucket such as `31-60` or `91+`. */
export const createdWithin = (bucket: string, asOf: string): Fields => {
  const [first = "", last] = bucket.replace("+", "").split("-");
  return {
    createdTo: daysBefore(asOf, Number(first)),
    createdFrom: last === undefined ? undefined : daysBefore(asOf, Number(last)),
  };
};

const STALE_DAYS = 10;

/** Flags of triage that are also filters. */
export const flagFilters = (asOf: string): Record<string, Fields> => ({
  documentClosed: { documentStatus: "closed" },
  unassigned: { unassigned: true },
  stale: { updatedBefore: daysBefore(asOf, STALE_DAYS) },
});

/** The arguments of the summary that the aging chart shows: all ages under the other conditions. */
export const agingArgs = ({ limit: _limit, orderBy: _orderBy, ...rest }: Fields): Fields => ({
  status: ["Open"],
  ...changed(rest, { createdFrom: undefined, createdTo: undefined }),
  groupBy: ["age"],
});
