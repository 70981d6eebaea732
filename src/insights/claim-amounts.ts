import { contract } from "../contract/index.ts";
import type { DocumentWithClosing } from "../contract/operations/documents.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { askClosure } from "./document-reader.ts";
import { balanceOf, originalAmountOf } from "./documents.ts";
import { findOneAccount } from "./find-accounts.ts";
import type { InsightContext } from "./insight.ts";
import { type Page, readPages } from "./read-pages.ts";
import { attemptPart } from "./read-part.ts";

const { accounts, documents } = contract;

const PAGE_ROWS = 1000;
const CONCURRENT = 4;

/** What a claim without a number tells of its document. */
export type AmountClaim = { customer: string; amount: number; currencyCode?: string | undefined };

/** Finds the documents that a customer and an amount on a claim may mean. */
export type AmountFinder = {
  find(claim: AmountClaim): readonly DocumentWithClosing[];
  /** Why documents or customers were not found or not read. */
  notes: readonly string[];
  /** Whether documents of a customer are left out. */
  isCut: boolean;
};

const NO_LIST =
  "This platform does not list documents, so a customer and an amount alone find none: name documents.";

/** Reads the documents of an account whose balance or original amount is one of the amounts. */
const readOfAccount = async (
  context: InsightContext,
  accountNumber: string,
  amounts: ReadonlySet<number>,
): Promise<{ found: DocumentWithClosing[]; notes: string[] }> => {
  const found: DocumentWithClosing[] = [];
  const maxRows = context.limits.documents;
  const load = async (cursor?: string): Promise<Page<DocumentWithClosing>> => {
    const { data, pagination } = (
      await context.call(documents.list, {
        account_number: accountNumber,
        limit: Math.min(PAGE_ROWS, maxRows),
        ...askClosure(context, documents.list),
        ...(cursor === undefined ? {} : { cursor }),
      })
    ).output;
    const after = pagination.cursor;
    return { rows: data, next: after === null || after === cursor ? undefined : () => load(after) };
  };
  const take = (rows: readonly DocumentWithClosing[]): Promise<void> =>
    forEachInTurns(rows, (one) => {
      const own = [balanceOf(one).amount, originalAmountOf(one)];
      if (own.some((amount) => amount !== null && amounts.has(amount))) found.push(one);
    });
  const source = { first: () => load(), maxRows, noun: `documents of ${accountNumber}`, take };
  const part = await attemptPart(context, documents.list, () => readPages(context, source));
  if (part.refused !== undefined) {
    return {
      found,
      notes: [`Documents of ${accountNumber} were not read: ${part.refused.reason}`],
    };
  }
  const { stopped } = part.value;
  return { found, notes: stopped === undefined ? [] : [stopped] };
};

/** Finds the account of each customer, and says which customers are none or several. */
const findCustomers = async (context: InsightContext, customers: readonly string[]) => {
  const byCustomer = new Map<string, string>();
  const notes: string[] = [];
  const find = async (customer: string) => ({
    customer,
    part: await attemptPart(context, accounts.get, () => findOneAccount(context, customer)),
  });
  for await (const { customer, part } of mapConcurrent(customers, CONCURRENT, find)) {
    if (part.refused === undefined) {
      byCustomer.set(customer, part.value.hit.accountNumber);
      notes.push(...part.value.notes);
    } else notes.push(part.refused.reason);
  }
  return { byCustomer, notes };
};

/** Reads the documents of each customer once, for all claims that name a customer and an amount alone. */
export const readByAmounts = async (
  context: InsightContext,
  claims: readonly AmountClaim[],
): Promise<AmountFinder> => {
  if (claims.length === 0) return { find: () => [], notes: [], isCut: false };
  if (!context.extensions.has(documents.list.id)) {
    return { find: () => [], notes: [NO_LIST], isCut: false };
  }
  const { byCustomer, notes } = await findCustomers(context, [
    ...new Set(claims.map(({ customer }) => customer)),
  ]);
  const amounts = new Map<string, Set<number>>();
  for (const { customer, amount } of claims) {
    const account = byCustomer.get(customer);
    if (account === undefined) continue;
    amounts.set(account, (amounts.get(account) ?? new Set()).add(amount));
  }
  const byAccount = new Map<string, readonly DocumentWithClosing[]>();
  const cuts: string[] = [];
  for (const [account, own] of amounts) {
    const read = await readOfAccount(context, account, own);
    byAccount.set(account, read.found);
    cuts.push(...read.notes);
  }
  return {
    notes: [...new Set([...notes, ...cuts])],
    isCut: cuts.length > 0,
    find: ({ customer, amount, currencyCode }) =>
      (byAccount.get(byCustomer.get(customer) ?? "") ?? []).filter((one) => {
        const balance = balanceOf(one);
        const isCurrency = currencyCode === undefined || balance.currencyCode === currencyCode;
        return isCurrency && (balance.amount === amount || originalAmountOf(one) === amount);
      }),
  };
};
