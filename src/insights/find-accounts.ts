import { contract } from "../contract/index.ts";
import type { InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";

const { accounts, disputes, payments } = contract;

/** An account that a text may mean. */
export type AccountHit = { accountNumber: string; name: string | null };

export type AccountSearch = {
  hits: AccountHit[];
  /** Why some places could not be searched. */
  notes: string[];
};

type Search = (context: InsightContext, text: string) => Promise<AccountSearch>;

const ROWS_READ = 1000;

const found = (hits: AccountHit[]): AccountSearch => ({ hits, notes: [] });
const notSearched = (what: string, reason: string): AccountSearch => ({
  hits: [],
  notes: [`${what} not searched: ${reason}`],
});

const byNumber: Search = async (context, text) => {
  const part = await readPart(context, accounts.get, { account_number: text });
  if (part.refused === undefined) {
    const { accountNumber, name } = part.value;
    return found([{ accountNumber, name }]);
  }
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
  );
};

const bySearch: Search = async (context, text) => {
  const part = await readPart(context, accounts.list, { search: text, limit: ROWS_READ });
  if (part.refused !== undefined) return notSearched("Names were", part.refused.reason);
  return found(part.value.data.map(({ accountNumber, name }) => ({ accountNumber, name })));
};

const NO_LIST =
  "This platform does not list accounts: names were searched in its payments only, so accounts without payments may be missing.";

/** Returns each account once, as it was found first. */
const uniqueHits = (hits: readonly AccountHit[]): AccountHit[] => {
  const unique = new Map<string, AccountHit>();
  for (const hit of hits) if (!unique.has(hit.accountNumber)) unique.set(hit.accountNumber, hit);
  return [...unique.values()];
};

/** Finds accounts by their number, or by a part of their name as far as the platform allows. */
export const findAccounts: Search = async (context, text) => {
  const canSearch = context.extensions.has(accounts.list.id);
  const searches = [byNumber, byDisputes, ...(canSearch ? [bySearch] : []), byPayments];
  const results = await Promise.all(searches.map((search) => search(context, text)));
  return {
    hits: uniqueHits(results.flatMap(({ hits }) => hits)),
    notes: [...new Set(results.flatMap(({ notes }) => notes)), ...(canSearch ? [] : [NO_LIST])],
  };
};
