import { contract } from "../contract/index.ts";
import {
  createTopSearch,
  FAMILY_GROUPINGS,
  isFamilyGrouping,
} from "../contract/insights/families.ts";
import type { GroupKey } from "../contract/insights/result.ts";
import type { Account } from "../contract/operations/accounts.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { createFamilies, type Families } from "./families.ts";
import type { InsightContext } from "./insight.ts";
import { readByCursor } from "./read-pages.ts";

const { accounts } = contract;

export const ACCOUNT_GROUPINGS = ["account", ...FAMILY_GROUPINGS] as const;
export type AccountGrouping = (typeof ACCOUNT_GROUPINGS)[number];

/** The records of one group in one currency. */
export type Cell = { key: GroupKey; currencyCode: string | null };

/** Returns the text that tells a group in a currency from all others. */
export const toCellId = ({ key, currencyCode }: Cell): string =>
  JSON.stringify([currencyCode, ...ACCOUNT_GROUPINGS.map((name) => key[name] ?? null)]);

/** Returns the key of an account's records. */
export type KeyOf = (accountNumber: string) => GroupKey;

type Keys = { keyOf: KeyOf; isPartial: boolean; notes: readonly string[] };

type Belonging = Pick<Families, "topOf" | "groupOf"> & Omit<Keys, "keyOf">;

const PAGE_ROWS = 1000;
const MOST_LISTED = 200_000;

const listFamilies = async (context: InsightContext): Promise<Belonging> => {
  const known = new Map<string, Pick<Account, "parent_account_number" | "account_group">>();
  const load = (cursor: string | undefined) =>
    context.call(accounts.list, { limit: PAGE_ROWS, cursor });
  const take = (rows: readonly Account[]): Promise<void> =>
    forEachInTurns(rows, ({ accountNumber, parent_account_number, account_group }) => {
      known.set(accountNumber, { parent_account_number, account_group });
    });
  const source = { maxRows: MOST_LISTED, noun: "accounts", take };
  const { stopped } = await readByCursor(context, load, source);
  const notes = stopped === undefined ? [] : [stopped];
  const topOf = createTopSearch((number) => known.get(number)?.parent_account_number);
  const groupOf = (number: string): string | null => known.get(number)?.account_group ?? null;
  return { topOf, groupOf, isPartial: notes.length > 0, notes };
};

const readFamilies = async (
  context: InsightContext,
  numbers: Iterable<string>,
): Promise<Belonging> => {
  if (context.extensions.has(accounts.list.id)) return listFamilies(context);
  const families = createFamilies(context);
  await families.read(numbers);
  return { ...families, isPartial: families.isPartial(), notes: families.notes() };
};

/**
 * Reads the keys of accounts: their topmost parents and groups of all accounts where the platform lists these, else of
 * as many as are read one by one.
 *
 * @throws {Problem} the platform's refusal
 */
export const readKeys = async (
  context: InsightContext,
  groupings: readonly AccountGrouping[],
  numbers: Iterable<string>,
): Promise<Keys> => {
  if (!groupings.some((one) => isFamilyGrouping(one))) {
    const keyOf: KeyOf = (number) => Object.fromEntries(groupings.map((name) => [name, number]));
    return { keyOf, isPartial: false, notes: [] };
  }
  const { topOf, groupOf, isPartial, notes } = await readFamilies(context, numbers);
  const values = { account: (number: string) => number, parent: topOf, accountGroup: groupOf };
  const keyOf: KeyOf = (number) =>
    Object.fromEntries(groupings.map((name) => [name, values[name](number)]));
  return { keyOf, isPartial, notes };
};
