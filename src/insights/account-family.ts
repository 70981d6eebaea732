import Big from "big.js";
import { contract } from "../contract/index.ts";
import { type CurrencyTotal, toExactNumber } from "../contract/insights/result.ts";
import type { Account } from "../contract/operations/accounts.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { type AccountFigures, asItStood, summarizeDisputes } from "./account-disputes.ts";
import { readAccountPayments } from "./account-payments.ts";
import { withoutNulls } from "./brief.ts";
import { type Family, readFamily } from "./families.ts";
import { callSummary, canSummarize, type Fields, type InsightContext } from "./insight.ts";
import { readReopened } from "./matching-disputes.ts";
import { readDisputes } from "./read-disputes.ts";
import { type Moment, standAt } from "./standing.ts";
import {
  absent,
  attemptPart,
  type Part,
  showPart,
  toUnavailable,
  type Unavailable,
} from "./read-part.ts";

const { disputes, documents, payments } = contract;

/** The members that an answer shows, those that owe most first. */
const SHOWN = 15;
/** The members whose records are read one by one, or named in one filter. */
const MOST_READ = 50;
const MOST_NAMED = 1000;
const CONCURRENT = 8;
/** The groups that one summary gives. */
const GROUPS = 200;

const NOT_ADDED = absent(
  "This platform does not add up the documents of a parent and everything below it.",
);

type Owed = {
  byAccount: ReadonlyMap<string, CurrencyTotal[]>;
  totals: readonly CurrencyTotal[];
  figures: Fields;
};

/** The argument of a summary of a past day. */
const listMoment = ({ isPast, name }: Moment) => (isPast ? { asOf: name } : {});

/** Reads what the members owe; if there are too many for one answer, what those owe that are shown. */
const readMembers = async (context: InsightContext, accountNumber: string, args: object) => {
  const byMember = { ...args, groupBy: ["account"], limit: GROUPS };
  const { items, itemsTotal } = await callSummary(context, documents.summary, byMember);
  if (items.length >= itemsTotal) return items;
  const first = new Set([accountNumber, ...items.map(({ key }) => String(key["account"]))]);
  const shown = { ...byMember, accountNumber: [...first].slice(0, SHOWN) };
  return (await callSummary(context, documents.summary, shown)).items;
};

/** Reads what the family owes: together, by days past due, and by member. */
const readOwed = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
): Promise<Part<Owed>> => {
  const args = { parentAccountNumber: [accountNumber], ...listMoment(asOf) };
  if (!canSummarize(context, documents.summary, args)) return { refused: NOT_ADDED };
  return attemptPart(context, documents.summary, async () => {
    const [ages, members] = await Promise.all([
      callSummary(context, documents.summary, { ...args, groupBy: ["age"], limit: GROUPS }),
      readMembers(context, accountNumber, args),
    ]);
    const toTotal = ({ currencyCode, count, amount }: CurrencyTotal): CurrencyTotal => ({
      currencyCode,
      count,
      amount,
    });
    const inAges = Map.groupBy(ages.items, ({ key }) => String(key["age"]));
    const byAccount = Map.groupBy(members, ({ key }) => String(key["account"]));
    return {
      byAccount: new Map([...byAccount].map(([number, items]) => [number, items.map(toTotal)])),
      totals: ages.currencyTotals,
      figures: {
        count: ages.rowCount,
        totals: ages.currencyTotals,
        daysPastDue: Object.fromEntries(
          [...inAges].map(([age, items]) => [
            age,
            items.map(toTotal).filter(({ count }) => count > 0),
          ]),
        ),
      },
    };
  });
};

/** Adds up the disputes of the family where the platform does. */
const summarizeFamily = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
): Promise<AccountFigures> => {
  const read = (status: "Open" | "Closed") =>
    callSummary(context, disputes.summary, {
      parentAccountNumber: [accountNumber],
      status: [status],
      ...listMoment(asOf),
    });
  const [open, closed] = await Promise.all([read("Open"), read("Closed")]);
  const figures = {
    open: { count: open.rowCount, totals: open.currencyTotals },
    closed: {
      count: closed.rowCount,
      totals: closed.currencyTotals,
      avgDaysToClose: closed.avgDaysToClose,
    },
  };
  return { figures, notes: [], stopped: undefined };
};

/** Reads the disputes of members one by one. */
const addUpMembers = async (
  context: InsightContext,
  numbers: readonly string[],
  asOf: Moment,
): Promise<AccountFigures> => {
  const all: Dispute[] = [];
  const reopened = await readReopened(context, asOf);
  const read = (accountNumber: string) =>
    readDisputes(context, { AccountNumber: accountNumber }, (rows) =>
      forEachInTurns(rows, (row) => {
        const standing = standAt(row, asOf, reopened);
        if (standing !== undefined) all.push(asItStood(standing));
      }),
    );
  let stopped: string | undefined;
  for await (const reading of mapConcurrent(numbers.slice(0, MOST_READ), CONCURRENT, read))
    stopped ??= reading.stopped;
  const { open, closed } = await summarizeDisputes(all, context.calendar);
  const { largest: _largest, ...ofOpen } = open;
  const more = numbers.length - MOST_READ;
  const notes = more > 0 ? [`The disputes of ${more} further accounts were not read.`] : [];
  return { figures: { open: ofOpen, closed }, notes: [...reopened.notes, ...notes], stopped };
};

const readFamilyDisputes = (
  context: InsightContext,
  accountNumber: string,
  numbers: readonly string[],
  asOf: Moment,
): Promise<Part<AccountFigures>> => {
  const canAsk = canSummarize(context, disputes.summary, { parentAccountNumber: [accountNumber] });
  return attemptPart(context, disputes.list, () =>
    canAsk ? summarizeFamily(context, accountNumber, asOf) : addUpMembers(context, numbers, asOf),
  );
};

const readFamilyPayments = async (
  context: InsightContext,
  numbers: readonly string[],
  asOf: Moment,
): Promise<AccountFigures> => {
  const read = await readAccountPayments(context, numbers.slice(0, MOST_NAMED), asOf);
  const more = numbers.length - MOST_NAMED;
  const notes = more > 0 ? [`The payments of ${more} further accounts were not read.`] : [];
  return { ...read, notes: [...read.notes, ...notes] };
};

const NO_LIMIT = { available: false, reason: "The account has no credit limit." } as const;

const NO_CURRENCY = {
  available: false,
  reason: "The account has no currency, so its credit limit is compared with none of several.",
} as const;

/** Compares what the family owes in the limit's currency with the limit; other currencies are named. */
const compareLimit = (
  { credit_limit: limit, currency }: Account,
  owed: Part<Owed>,
): Fields | Unavailable => {
  if (typeof limit !== "number") return NO_LIMIT;
  if (owed.refused !== undefined) return toUnavailable(owed.refused);
  const { totals } = owed.value;
  if (currency === undefined && totals.length > 1) return { ...NO_CURRENCY, creditLimit: limit };
  const currencyCode = currency ?? totals[0]?.currencyCode ?? null;
  const own = totals.find((total) => total.currencyCode === currencyCode);
  const others = totals.filter((total) => total !== own);
  const amount = new Big(own?.amount ?? 0);
  return {
    currencyCode,
    creditLimit: limit,
    openAmount: toExactNumber(amount.toFixed()),
    overBy: toExactNumber((amount.gt(limit) ? amount.minus(limit) : new Big(0)).toFixed()),
    ...(others.length === 0 ? {} : { otherCurrencies: others }),
  };
};

const largestOf = (totals: readonly CurrencyTotal[]): Big =>
  totals.map(({ amount }) => new Big(amount)).reduce((a, b) => (b.gt(a) ? b : a), new Big(0));

/** Shows the members, the account itself first and then those that owe most. */
const showMembers = ({ members }: Family, owed: Part<Owed>): Fields => {
  const [first, ...others] = members;
  const openOf = ({ accountNumber }: Account): readonly CurrencyTotal[] =>
    owed.refused === undefined ? (owed.value.byAccount.get(accountNumber) ?? []) : [];
  const sorted = others
    .map((one) => ({ one, largest: largestOf(openOf(one)) }))
    .toSorted((a, b) => b.largest.cmp(a.largest))
    .map(({ one }) => one);
  const shown = [...(first === undefined ? [] : [first]), ...sorted].slice(0, SHOWN);
  return {
    membersTotal: members.length,
    members: shown.map((one) =>
      withoutNulls({
        accountNumber: one.accountNumber,
        name: one.name,
        parentAccountNumber: one.parent_account_number,
        creditLimit: one.credit_limit,
        openAmounts: owed.refused === undefined ? openOf(one) : null,
      }),
    ),
    ...(members.length > SHOWN
      ? { more: "documents_summary with parentAccountNumber and groupBy account lists all." }
      : {}),
  };
};

/** An account with everything below it in one: who belongs to it, what they owe, dispute and pay. */
export const readFamilyOverview = async (
  context: InsightContext,
  accountNumber: string,
  asOf: Moment,
) => {
  const family = await readFamily(context, accountNumber);
  const { members } = family;
  const numbers = [...new Set([accountNumber, ...members.map((one) => one.accountNumber)])];
  const [owed, disputed, paid] = await Promise.all([
    readOwed(context, accountNumber, asOf),
    readFamilyDisputes(context, accountNumber, numbers, asOf),
    attemptPart(context, payments.query, () => readFamilyPayments(context, numbers, asOf)),
  ]);
  const parent = members.find((one) => one.accountNumber === accountNumber);
  const figures = [disputed, paid].flatMap((part) => ("value" in part ? [part.value] : []));
  return {
    stopped: figures.flatMap(({ stopped }) => stopped ?? []),
    notes: [...family.notes, ...figures.flatMap(({ notes }) => notes)],
    isPartial: family.isPartial,
    item: {
      family: {
        limit: parent === undefined ? NO_LIMIT : compareLimit(parent, owed),
        ...showMembers(family, owed),
      },
      openDocuments: showPart(owed, (value) => value.figures),
      disputes: showPart(disputed, (value) => value.figures),
      payments: showPart(paid, (value) => value.figures),
    },
  };
};
