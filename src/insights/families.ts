import { contract } from "../contract/index.ts";
import {
  createTopSearch,
  type FamilyFilters,
  type FamilyGrouping,
  listAncestors,
  needsFamilies,
  type ParentOf,
} from "../contract/insights/families.ts";
import type { Account } from "../contract/operations/accounts.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { fold } from "./dispute-names.ts";
import type { InsightContext } from "./insight.ts";
import { readDisputes } from "./read-disputes.ts";
import { readByCursor } from "./read-pages.ts";
import { attemptPart, isAbsence } from "./read-part.ts";

const { accounts, disputes } = contract;

/** The accounts that an answer reads one by one, those above others included. */
const MOST_READ = 500;
const CONCURRENT = 8;

/** The parents and groups of accounts, each read once. */
export type Families = {
  /** Reads accounts that are not known yet, and everything above them. @throws {Problem} the platform's refusal */
  read(accountNumbers: Iterable<string>): Promise<void>;
  /** Returns the topmost parent; an account without one, or one that was not read, is its own. */
  topOf(accountNumber: string): string;
  groupOf(accountNumber: string): string | null;
  /** Creates the test of whether an account is one of these, in any letter case, or below one of them. */
  createBelowTest(parents: readonly string[]): (accountNumber: string) => boolean;
  /** Lists the accounts that were read. */
  list(): Account[];
  /** Whether the limit left accounts unread. */
  isPartial(): boolean;
  /** Sentences about accounts that were not read. */
  notes(): string[];
};

const NONE_KNOWN =
  "The platform knows none of these accounts, so each counts as a topmost parent without a group.";

type Reading = { known: ReadonlyMap<string, Account | null>; parentOf: ParentOf };

/** Creates the test of {@link Families}: a number that no account has is compared as it was sent. */
const createBelowTest = ({ known, parentOf }: Reading, parents: readonly string[]) => {
  const exact = new Set(parents);
  const folded = new Set(parents.map(fold));
  return (number: string): boolean => {
    if (exact.has(number)) return true;
    const path = [...listAncestors(number, parentOf)];
    return path.some((one, place) => (place > 0 || known.get(one)) && folded.has(fold(one)));
  };
};

/** Creates a reader of parents and groups that reads at most {@link MOST_READ} accounts. */
export const createFamilies = (context: InsightContext): Families => {
  /** Null: the platform does not know the account. */
  const known = new Map<string, Account | null>();
  const unread = new Set<string>();
  const parentOf = (number: string): string | undefined => known.get(number)?.parent_account_number;
  let findTop = createTopSearch(parentOf);

  const readOne = async (number: string): Promise<readonly [string, Account | null]> => {
    try {
      const { output } = await context.call(accounts.get, { account_number: number });
      const { notes: _notes, ...account } = output;
      return [number, account];
    } catch (error) {
      if (isAbsence(error)) return [number, null];
      throw error;
    }
  };

  const readLevel = async (numbers: readonly string[]): Promise<string[]> => {
    const above = new Set<string>();
    for await (const [number, account] of mapConcurrent(numbers, CONCURRENT, readOne)) {
      known.set(number, account);
      const parent = account?.parent_account_number;
      if (parent !== undefined && !known.has(parent)) above.add(parent);
    }
    return [...above].filter((number) => !known.has(number));
  };

  return {
    async read(numbers) {
      let level = [...new Set(numbers)].filter((one) => !known.has(one) && !unread.has(one));
      if (level.length === 0) return;
      while (level.length > 0) {
        const now = level.slice(0, MOST_READ - known.size);
        for (const number of level.slice(now.length)) unread.add(number);
        level = now.length === 0 ? [] : await readLevel(now);
      }
      findTop = createTopSearch(parentOf);
    },
    topOf: (number) => findTop(number),
    groupOf: (number) => known.get(number)?.account_group ?? null,
    createBelowTest: (parents) => createBelowTest({ known, parentOf }, parents),
    list: () => [...known.values()].flatMap((one) => one ?? []),
    isPartial: () => unread.size > 0,
    notes: () => [
      ...(known.size === 0 || [...known.values()].some((one) => one !== null) ? [] : [NONE_KNOWN]),
      ...(unread.size === 0
        ? []
        : [
            `The parents and groups of ${unread.size} accounts are unknown, because an answer reads at most ${MOST_READ} accounts: they count as topmost parents without a group.`,
          ]),
    ],
  };
};

/** The value of a grouping for an account's record; a record without an account has none. */
export const readFamilyKey = (
  families: Families | undefined,
  grouping: FamilyGrouping,
  accountNumber: string | null,
): string | null => {
  if (accountNumber === null || families === undefined) return null;
  return grouping === "parent" ? families.topOf(accountNumber) : families.groupOf(accountNumber);
};

/** Creates a reader of parents if a summary needs it. */
export const createFamiliesOf = (
  context: InsightContext,
  filters: FamilyFilters,
  groupBy: readonly string[] = [],
): Families | undefined => (needsFamilies(filters, groupBy) ? createFamilies(context) : undefined);

/** Creates the test of the conditions on what an account, which was read, belongs to. */
export const createFamilyFilter = (
  families: Families | undefined,
  { parentAccountNumber: parents, accountGroup }: FamilyFilters,
): ((accountNumber: string | null) => boolean) => {
  if (families === undefined) return () => true;
  const groups = accountGroup === undefined ? undefined : new Set(accountGroup.map(fold));
  const isBelow = parents === undefined ? () => true : families.createBelowTest(parents);
  return (number) => {
    if (number === null) return parents === undefined && groups === undefined;
    if (!isBelow(number)) return false;
    return groups === undefined || groups.has(fold(families.groupOf(number) ?? ""));
  };
};

/** Whether records may be left out, because not every account was read that a condition is about. */
export const isCut = (
  families: Families | undefined,
  { parentAccountNumber, accountGroup }: FamilyFilters,
): boolean =>
  (parentAccountNumber !== undefined || accountGroup !== undefined) &&
  families?.isPartial() === true;

/** An account and everything below it. */
export type Family = {
  /** The account first, then by number; the account alone if the platform knows none below it. */
  members: readonly Account[];
  /** Not every account that may belong to it was read. */
  isPartial: boolean;
  notes: readonly string[];
};

/** The filter of accounts.list by family, as the platform announces it. */
const FAMILY = `${accounts.list.id}.${accounts.list.additions?.name}`;

const PAGE_ROWS = 1000;
const MOST_MEMBERS = 10_000;

const sortMembers = (members: readonly Account[], accountNumber: string): Account[] => {
  const place = (one: Account): number => Number(one.accountNumber !== accountNumber);
  return members.toSorted(
    (a, b) => place(a) - place(b) || (a.accountNumber < b.accountNumber ? -1 : 1),
  );
};

const listFamily = async (context: InsightContext, accountNumber: string): Promise<Family> => {
  const members: Account[] = [];
  const load = (cursor: string | undefined) =>
    context.call(accounts.list, { family_of: accountNumber, limit: PAGE_ROWS, cursor });
  const take = (rows: readonly Account[]): Promise<void> =>
    forEachInTurns(rows, (row) => void members.push(row));
  const source = { maxRows: MOST_MEMBERS, noun: "accounts", take };
  const { stopped } = await readByCursor(context, load, source);
  return {
    members: sortMembers(members, accountNumber),
    isPartial: stopped !== undefined,
    notes: stopped === undefined ? [] : [stopped],
  };
};

const FROM_DISPUTES = `This platform does not list the accounts below a parent: they were sought among the accounts with disputes, at most ${MOST_READ}.`;

/** Lists the accounts that have disputes, as far as the caller may read them. */
const listDisputedAccounts = async (context: InsightContext) => {
  const numbers = new Set<string>();
  const part = await attemptPart(context, disputes.list, () =>
    readDisputes(context, {}, (rows) =>
      forEachInTurns(rows, (one) => void numbers.add(one.accountNumber)),
    ),
  );
  const why = part.refused === undefined ? part.value.stopped : part.refused.reason;
  return { numbers, notes: why === undefined ? [] : [why] };
};

const findFamily = async (context: InsightContext, accountNumber: string): Promise<Family> => {
  const families = createFamilies(context);
  await families.read([accountNumber]);
  const { numbers, notes } = await listDisputedAccounts(context);
  await families.read(numbers);
  const isBelow = families.createBelowTest([accountNumber]);
  const members = families.list().filter((one) => isBelow(one.accountNumber));
  return {
    members: sortMembers(members, accountNumber),
    isPartial: true,
    notes: [FROM_DISPUTES, ...notes, ...families.notes()],
  };
};

/**
 * Reads an account and everything below it: all of them where the platform lists them, else those that have disputes.
 *
 * @throws {Problem} the platform's refusal
 */
export const readFamily = (context: InsightContext, accountNumber: string): Promise<Family> =>
  context.extensions.has(FAMILY)
    ? listFamily(context, accountNumber)
    : findFamily(context, accountNumber);
