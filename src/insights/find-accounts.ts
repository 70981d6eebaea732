import { z } from "zod";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { Account } from "../contract/operations/accounts.ts";
import { findNearest } from "../kit/nearest.ts";
import { withoutNulls } from "./brief.ts";
import { fold } from "./dispute-names.ts";
import type { InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";
import { LISTED, readInAnyCase } from "./spellings.ts";

const { accounts, disputes, payments } = contract;

/** An account that a text may mean, with what tells it from others of its name, as far as it was read. */
export type AccountHit = {
  accountNumber: string;
  name: string | null;
  place?: AccountPlace | undefined;
};

/** The address and the parent of an account. */
export const AccountPlace = z.object({
  city: z.string().optional(),
  country: z.string().optional(),
  parentAccountNumber: z.string().optional(),
});
export type AccountPlace = z.infer<typeof AccountPlace>;

const toHit = (account: Account): AccountHit => {
  const { accountNumber, name, billing_address: address } = account;
  const place = {
    city: address?.city,
    country: address?.country,
    parentAccountNumber: account.parent_account_number,
  };
  return { accountNumber, name, place: withoutNulls(place) };
};

export type AccountSearch = {
  hits: AccountHit[];
  /** Why some places could not be searched. */
  notes: string[];
  /** More accounts match than were read. */
  isPartial: boolean;
};

type Search = (context: InsightContext, text: string) => Promise<AccountSearch>;

const ROWS_READ = 1000;

const found = (hits: AccountHit[], isPartial = false): AccountSearch => ({
  hits,
  notes: [],
  isPartial,
});
const notSearched = (what: string, reason: string): AccountSearch => ({
  hits: [],
  notes: [`${what} not searched: ${reason}`],
  isPartial: false,
});

const byNumber: Search = async (context, text) => {
  const part = await readPart(context, accounts.get, { account_number: text });
  if (part.refused === undefined) return found([toHit(part.value)]);
  return part.refused.isAbsent ? found([]) : notSearched("Accounts were", part.refused.reason);
};

/** A platform may have disputes on accounts that its ingest service does not know. */
const byDisputes: Search = async (context, text) => {
  const args = { AccountNumber: text, Page: 1, PageSize: 1 };
  const part = await readPart(context, disputes.list, args);
  if (part.refused !== undefined) {
    return notSearched("Accounts of disputes were", part.refused.reason);
  }
  return found(
    part.value.map(({ accountNumber, accountName = null }) => ({
      accountNumber,
      name: accountName,
    })),
  );
};

/** Payments have the names of accounts, also where a platform does not list accounts. */
const byPayments: Search = async (context, text) => {
  const part = await readPart(context, payments.query, {
    source: "cashapp",
    fields: ["accountNumber", "accountName"],
    filters: { accountName: { contains: text } },
    limit: ROWS_READ,
  });
  if (part.refused !== undefined) return notSearched("Names in payments were", part.refused.reason);
  const rows: { accountNumber?: unknown; accountName?: unknown }[] = part.value.data;
  return found(
    rows.flatMap(({ accountNumber, accountName }) =>
      typeof accountNumber === "string"
        ? [{ accountNumber, name: typeof accountName === "string" ? accountName : null }]
        : [],
    ),
    part.value.pagination.hasMore,
  );
};

const bySearch: Search = async (context, text) => {
  const part = await readPart(context, accounts.list, { search: text, limit: LISTED.account });
  if (part.refused !== undefined) return notSearched("Names were", part.refused.reason);
  const { data, pagination } = part.value;
  return found(data.map(toHit), pagination.hasMore);
};

const NO_LIST =
  "This platform does not list accounts: names were searched in its payments only, so accounts without payments may be missing.";

/** Returns each account once, as it was found first, with its place from any of the searches. */
const uniqueHits = (hits: readonly AccountHit[]): AccountHit[] => {
  const unique = new Map<string, AccountHit>();
  for (const hit of hits) {
    const known = unique.get(hit.accountNumber) ?? hit;
    unique.set(hit.accountNumber, { ...known, place: known.place ?? hit.place });
  }
  return [...unique.values()];
};

/** The accounts whose place is read one by one, where the searches did not tell it. */
const MOST_PLACED = 20;

/** Adds the places of accounts, by which a reader distinguishes near-identical names. */
export const placeAccounts = async (
  context: InsightContext,
  hits: readonly AccountHit[],
): Promise<readonly AccountHit[]> => {
  const unplaced = hits.filter(({ place }) => place === undefined).slice(0, MOST_PLACED);
  const parts = await Promise.all(
    unplaced.map(({ accountNumber }) =>
      readPart(context, accounts.get, { account_number: accountNumber }),
    ),
  );
  const read = parts.flatMap((part) => (part.refused === undefined ? [toHit(part.value)] : []));
  const places = new Map(read.map(({ accountNumber, place }) => [accountNumber, place]));
  return hits.map((hit) => ({ ...hit, place: hit.place ?? places.get(hit.accountNumber) }));
};

const canList = ({ extensions }: InsightContext): boolean => extensions.has(accounts.list.id);

/** Searches a number as it was sent, and in other letter cases if it is not found. */
const inAnyCase =
  (search: Search): Search =>
  async (context, text) => {
    const notes: string[] = [];
    const hits = await readInAnyCase(context, "account", text, async (number) => {
      const result = await search(context, number);
      notes.push(...result.notes);
      return result.hits;
    });
    return { ...found([...hits]), notes };
  };

/** Finds accounts by their number, or by a part of their name as far as the platform allows. */
export const findAccounts: Search = async (context, text) => {
  const results = await Promise.all([
    inAnyCase(byNumber)(context, text),
    inAnyCase(byDisputes)(context, text),
    ...(canList(context) ? [bySearch(context, text)] : []),
    byPayments(context, text),
  ]);
  const notes = new Set(results.flatMap((result) => result.notes));
  return {
    hits: uniqueHits(results.flatMap(({ hits }) => hits)),
    notes: [...notes, ...(canList(context) ? [] : [NO_LIST])],
    isPartial: results.some(({ isPartial }) => isPartial),
  };
};

const MOST_SIMILAR = 5;
/** Most misspelt words begin right, and the platform searches at least so many characters within names. */
const BEGINNING = 3;
const MOST_WORDS = 3;

const listWords = (text: string): string[] =>
  text.split(/[^\p{L}\p{N}]+/u).filter(({ length }) => length >= BEGINNING);

const resembles = (name: string, words: readonly string[]): boolean => {
  const own = listWords(name);
  return words.every((word) => findNearest(word, own, 1).length > 0);
};

/** Finds accounts with a name of which every word of the text is a misspelling or a part. */
export const findSimilarAccounts = async (
  context: InsightContext,
  text: string,
): Promise<AccountHit[]> => {
  const words = listWords(text).slice(0, MOST_WORDS);
  const search = canList(context) ? bySearch : byPayments;
  const beginnings = new Set(words.map((word) => word.slice(0, BEGINNING)));
  const results = await Promise.all([...beginnings].map((part) => search(context, part)));
  return uniqueHits(results.flatMap(({ hits }) => hits))
    .filter(({ name }) => resembles(name ?? "", words))
    .slice(0, MOST_SIMILAR);
};

/** Returns the account with a number; in another letter case, if it is the only one. */
const findNumbered = (hits: readonly AccountHit[], text: string): AccountHit | undefined => {
  const same = hits.filter(({ accountNumber }) => fold(accountNumber) === fold(text));
  const exact = same.find(({ accountNumber }) => accountNumber === text);
  return exact ?? (same.length === 1 ? same[0] : undefined);
};

/** Returns the only account of which the text is the whole name. */
const findNamed = ({ hits, isPartial }: AccountSearch, text: string): AccountHit | undefined => {
  const [only, ...others] = hits.filter(({ name }) => name !== null && fold(name) === fold(text));
  return isPartial || others.length > 0 ? undefined : only;
};

/** Returns the account that a text names exactly, also where others have it in their names, and a note of these. */
export const findExact = (
  search: AccountSearch,
  text: string,
): { hit: AccountHit; notes: string[] } | undefined => {
  const numbered = findNumbered(search.hits, text);
  if (numbered !== undefined) return { hit: numbered, notes: [] };
  const hit = findNamed(search, text.trim());
  if (hit === undefined) return undefined;
  const others = search.hits.length - 1;
  const notes =
    others === 0
      ? []
      : [
          `${hit.accountNumber} has exactly this name; ${others} others have it in theirs, which find_records lists.`,
        ];
  return { hit, notes };
};

const MOST_NAMED = 5;
const MAX_QUOTED = 100;

const describeHit = ({ accountNumber, name, place }: AccountHit): string => {
  const { city, country, parentAccountNumber: parent } = place ?? {};
  const where = [city, country].filter((part) => part !== undefined).join(", ");
  const known = [name ?? "", where, parent === undefined ? "" : `parent ${parent}`].filter(Boolean);
  return known.length === 0 ? accountNumber : `${accountNumber} (${known.join("; ")})`;
};

/**
 * Finds the only account with a number or name, or with a part of its name.
 *
 * @throws {Problem} `not_found`, or `invalid_request` that names the accounts which fit
 */
export const findOneAccount = async (
  context: InsightContext,
  text: string,
): Promise<{ hit: AccountHit; notes: readonly string[] }> => {
  const search = await findAccounts(context, text);
  const { hits } = search;
  const [only, ...others] = hits;
  const exact = findExact(search, text);
  if (exact !== undefined) return { ...exact, notes: [...search.notes, ...exact.notes] };
  if (only !== undefined && others.length === 0) return { hit: only, notes: search.notes };
  const quoted = JSON.stringify(text.slice(0, MAX_QUOTED));
  const near = only === undefined ? await findSimilarAccounts(context, text) : hits;
  const named = await placeAccounts(context, near.slice(0, MOST_NAMED));
  const names = named.map(describeHit).join(", ");
  const message =
    only === undefined
      ? `No account has the number or name ${quoted}`
      : `${hits.length} accounts fit ${quoted}`;
  if (names === "") throw new Problem("not_found", [`${message}.`, ...search.notes].join(" "));
  throw new Problem(
    only === undefined ? "not_found" : "invalid_request",
    `${message}. Name one by its number: ${names}.`,
  );
};
