import { contract } from "../contract/index.ts";
import type { DocumentWithClosing } from "../contract/operations/documents.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { askClosure } from "./document-reader.ts";
import { balanceOf, originalAmountOf } from "./documents.ts";
import { findOneAccount } from "./find-accounts.ts";
import type { InsightContext } from "./insight.ts";
import { readByCursor } from "./read-pages.ts";
import { attemptPart, readPart } from "./read-part.ts";
import { readPayments } from "./read-payments.ts";
import { selectStanding } from "./standing-payments.ts";

const { accounts, documents, payments } = contract;

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
  "This platform does not list documents: a customer and an amount find those alone of which a payment deducted it.";

/** A document that an amount may mean: it is its balance, its original amount, or was deducted from it. */
type Candidate = { document: DocumentWithClosing; amounts: ReadonlySet<number> };

/** Documents that are read one by one because an amount was deducted from them. */
const MOST_DEDUCTED = 50;

const DEDUCTED = [
  "documentNumber",
  "currencyCode",
  "appliedAmount",
  "deductionAmount",
  "applicationStatus",
  "matchMethod",
];

/** Finds the documents of an account from which payments deducted one of the amounts. */
const readDeducted = async (
  context: InsightContext,
  accountNumber: string,
  amounts: ReadonlySet<number>,
): Promise<{ found: Candidate[]; notes: string[] }> => {
  const byNumber = new Map<string, Set<number>>();
  // A return takes back what its payment deducted.
  const signed = [...amounts].flatMap((amount) => [amount, -amount]);
  const query = {
    source: "cashapp" as const,
    fields: DEDUCTED,
    filters: { accountNumber: { eq: accountNumber }, deductionAmount: { in: signed } },
  };
  const part = await attemptPart(context, payments.query, () =>
    readPayments(context, query, (rows) =>
      forEachInTurns(selectStanding(rows), ({ documentNumber, deductionAmount }) => {
        if (typeof documentNumber !== "string" || typeof deductionAmount !== "number") return;
        if (!amounts.has(deductionAmount)) return;
        const own = byNumber.get(documentNumber) ?? new Set();
        byNumber.set(documentNumber, own.add(deductionAmount));
      }),
    ),
  );
  if (part.refused !== undefined) {
    return { found: [], notes: [`Deductions were not read: ${part.refused.reason}`] };
  }
  const { stopped } = part.value;
  const found: Candidate[] = [];
  const read = async ([number, own]: [string, ReadonlySet<number>]) => ({
    own,
    document: await readPart(context, documents.get, {
      document_number: number,
      ...askClosure(context),
    }),
  });
  const first = [...byNumber].slice(0, MOST_DEDUCTED);
  for await (const { own, document } of mapConcurrent(first, CONCURRENT, read)) {
    if (document.refused === undefined) found.push({ document: document.value, amounts: own });
  }
  const left = byNumber.size - first.length;
  return {
    found,
    notes: [
      ...(stopped === undefined ? [] : [stopped]),
      ...(left === 0 ? [] : [`${left} documents with such deductions were not read.`]),
    ],
  };
};

/** Reads the documents of an account whose balance or original amount is one of the amounts. */
const readOfAccount = async (
  context: InsightContext,
  accountNumber: string,
  amounts: ReadonlySet<number>,
): Promise<{ found: Candidate[]; notes: string[] }> => {
  const found: Candidate[] = [];
  const maxRows = context.limits.documents;
  const load = (cursor: string | undefined) =>
    context.call(documents.list, {
      account_number: accountNumber,
      limit: Math.min(PAGE_ROWS, maxRows),
      ...askClosure(context, documents.list),
      cursor,
    });
  const take = (rows: readonly DocumentWithClosing[]): Promise<void> =>
    forEachInTurns(rows, (one) => {
      const own = [balanceOf(one).amount, originalAmountOf(one)].filter(
        (amount) => amount !== null,
      );
      if (own.some((amount) => amounts.has(amount))) {
        found.push({ document: one, amounts: new Set(own) });
      }
    });
  const source = { maxRows, noun: `documents of ${accountNumber}`, take };
  const part = await attemptPart(context, documents.list, () =>
    readByCursor(context, load, source),
  );
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
  const canList = context.extensions.has(documents.list.id);
  const { byCustomer, notes } = await findCustomers(context, [
    ...new Set(claims.map(({ customer }) => customer)),
  ]);
  const amounts = new Map<string, Set<number>>();
  for (const { customer, amount } of claims) {
    const account = byCustomer.get(customer);
    if (account === undefined) continue;
    amounts.set(account, (amounts.get(account) ?? new Set()).add(amount));
  }
  const byAccount = new Map<string, readonly Candidate[]>();
  const cuts: string[] = [];
  for (const [account, own] of amounts) {
    const read = [
      ...(canList ? [await readOfAccount(context, account, own)] : []),
      await readDeducted(context, account, own),
    ];
    byAccount.set(
      account,
      read.flatMap(({ found }) => found),
    );
    cuts.push(...read.flatMap((one) => one.notes));
  }
  return {
    notes: [...new Set([...(canList ? [] : [NO_LIST]), ...notes, ...cuts])],
    isCut: cuts.length > 0,
    find({ customer, amount, currencyCode }) {
      const all = byAccount.get(byCustomer.get(customer) ?? "") ?? [];
      const fitting = all.filter(
        ({ document, amounts: own }) =>
          own.has(amount) &&
          (currencyCode === undefined || balanceOf(document).currencyCode === currencyCode),
      );
      const unique = new Map(fitting.map(({ document }) => [document.documentNumber, document]));
      return [...unique.values()];
    },
  };
};
