import { RecordNumber, requiredText } from "../fields.ts";
import { oneOrMore } from "./arguments.ts";

/** Conditions on what a record's account belongs to. */
export const familyFilters = {
  parentAccountNumber: oneOrMore(RecordNumber)
    .optional()
    .describe("this account and everything below it"),
  accountGroup: oneOrMore(requiredText(200)).optional().describe("any of"),
};

/** Arguments and groupings that the first version of a summary did not have. */
export const FAMILY_ADDITIONS = ["parent", "parentAccountNumber", "accountGroup"] as const;

export type FamilyFilters = {
  parentAccountNumber?: string[] | undefined;
  accountGroup?: string[] | undefined;
};

/** Groupings by what a record's account belongs to; `parent` is the topmost one. */
export const FAMILY_GROUPINGS = ["parent", "accountGroup"] as const;
export type FamilyGrouping = (typeof FAMILY_GROUPINGS)[number];

export const isFamilyGrouping = (name: string): name is FamilyGrouping =>
  FAMILY_GROUPINGS.some((one) => one === name);

/** Whether a summary needs the parents or groups of accounts. */
export const needsFamilies = (
  { parentAccountNumber, accountGroup }: FamilyFilters,
  groupBy: readonly string[],
): boolean =>
  parentAccountNumber !== undefined ||
  accountGroup !== undefined ||
  groupBy.some((name) => isFamilyGrouping(name));

/** Returns the number of the account above one; null or undefined if there is none. */
export type ParentOf = (accountNumber: string) => string | null | undefined;

/**
 * Lists the accounts from one upwards, itself first: to the account without a parent, which need not exist, or to the
 * last one before a number repeats.
 */
export const listAncestors = (accountNumber: string, parentOf: ParentOf): Set<string> => {
  const path = new Set<string>();
  let current: string | null | undefined = accountNumber;
  while (typeof current === "string" && !path.has(current)) {
    path.add(current);
    current = parentOf(current);
  }
  return path;
};

const chooseLeast = (numbers: readonly string[]): string =>
  numbers.reduce((least, one) => (one < least ? one : least));

/**
 * Creates the search for the topmost parent of an account. An account without a parent is its own. Where parents lead
 * in a circle, the smallest number of the circle is the top of everything in and below it. Answers are remembered, so that
 * all accounts together take linear time.
 */
export const createTopSearch = (parentOf: ParentOf): ((accountNumber: string) => string) => {
  const tops = new Map<string, string>();
  const parentOfUnknown: ParentOf = (number) => (tops.has(number) ? undefined : parentOf(number));
  return (accountNumber) => {
    const path = [...listAncestors(accountNumber, parentOfUnknown)];
    const last = path.at(-1) ?? accountNumber;
    const repeated = path.indexOf(parentOf(last) ?? "");
    const top = tops.get(last) ?? (repeated === -1 ? last : chooseLeast(path.slice(repeated)));
    for (const one of path) tops.set(one, top);
    return top;
  };
};
