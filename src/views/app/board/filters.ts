import type { TriageFlag } from "../../../contract/insights/dispute-triage.ts";
import { numberOf, textsOf } from "../answers.ts";
import type { Fields } from "../host.ts";
import { plainText, words } from "../format.ts";
import type { Condition } from "../ui/conditions.tsx";
import { STATUS } from "../words.ts";

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
  "flags",
  "orderBy",
  "limit",
];

/** As many rows as fit into one answer of the server. */
const LIMIT = 25;

/** Returns the arguments of the worklist with as many rows as a page of it has. */
export const pageArgs = (args: Fields): Fields => ({
  ...args,
  limit: Math.max(LIMIT, numberOf(args["limit"])),
});

/** Returns the flags that the disputes must have. */
export const flagsOf = ({ flags }: Fields): string[] =>
  Array.isArray(flags) ? textsOf(flags) : textsOf(flags === undefined ? [] : [flags]);

/** Returns the change by which a flag is asked for, or no longer. */
export const toggleFlag = (args: Fields, flag: TriageFlag): Fields => {
  const others = flagsOf(args).filter((name) => name !== flag);
  const flags = flagsOf(args).includes(flag) ? others : [...others, flag];
  return { flags: flags.length === 0 ? undefined : flags };
};

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
  new Date(Date.parse(asOf.slice(0, 10)) - days * DAY_MS).toISOString().slice(0, 10);

/** Returns the days of creation of an age bucket such as `31-60` or `91+`. */
export const createdWithin = (bucket: string, asOf: string): Fields => {
  const [first = "", last] = bucket.replace("+", "").split("-");
  return {
    createdTo: daysBefore(asOf, Number(first)),
    createdFrom: last === undefined ? undefined : daysBefore(asOf, Number(last)),
  };
};

/** Arguments that only the worklist has. */
const OF_WORKLIST = ["limit", "cursor", "orderBy", "flags"];

const withoutOwn = (args: Fields): Fields =>
  Object.fromEntries(Object.entries(args).filter(([name]) => !OF_WORKLIST.includes(name)));

/** The arguments of the summary that the aging chart shows: all ages under the other conditions. */
export const agingArgs = (args: Fields): Fields => ({
  status: [STATUS.open],
  ...changed(withoutOwn(args), { createdFrom: undefined, createdTo: undefined }),
  groupBy: ["age"],
});
