import Big from "big.js";
import { DAY } from "../../../kit/clock.ts";
import { findCurrencyDecimals } from "../../money.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import {
  type EntryFacts,
  getPayer,
  getText,
  isAdvice,
  parsePaymentIds,
  parseReferences,
  toBankReference,
} from "./entry-facts.ts";

/** A remittance advice can be dated some days before or after the deposit. */
export const ADVICE_DAYS = 10;
/** Within so many days, an advice of the payer of a deposit may be about it. */
const NEAR_DAYS = 5;
/** Shorter references occur by chance in texts. */
export const MIN_REFERENCE = 4;

/** Whether an entry is money that the store has already, may be, or is new. */
export type Verdict =
  | { as: "new" }
  | { as: "joined"; root: PaymentEntryRow }
  /** It is a payment of a stored batch; `isRicher`: it names more documents. */
  | { as: "part"; batch: PaymentEntryRow; isRicher: boolean }
  /** It is a batch, some or all payments of which are stored: those in these places of the entry; `advised`: those of advices. */
  | { as: "batch"; stored: ReadonlySet<number>; advised?: readonly string[] }
  | { as: "doubtful"; like: string; paymentId: string; reason: string };

/** Creates the verdict on an entry that may repeat a payment of another one. */
export const doubt = (like: string, paymentId: string, amounts?: Amounts): Verdict => ({
  as: "doubtful",
  like,
  paymentId,
  reason: describeDoubt(paymentId, amounts),
});

export const shiftDay = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);

export const countDaysBetween = (a: string, b: string): number =>
  Math.abs(Date.parse(a) - Date.parse(b)) / DAY;

const share = (mine: readonly string[], theirs: readonly string[]): boolean =>
  mine.some((text) => text.length >= MIN_REFERENCE && theirs.includes(text));

/** Whether both share a reference, or the text of one contains a reference of the other. */
export const namesReferenceOf = (
  one: EntryFacts,
  other: EntryFacts,
  which: "own" | "all",
): boolean => {
  const [mine, theirs] = [parseReferences(one)[which], parseReferences(other)[which]];
  const within = (references: readonly string[], words: string): boolean =>
    references.some((text) => text.length >= 2 * MIN_REFERENCE && words.includes(text));
  return share(mine, theirs) || within(mine, getText(other)) || within(theirs, getText(one));
};

const contradict = (mine: readonly string[], theirs: readonly string[]): boolean =>
  mine.length > 0 && theirs.length > 0 && !mine.some((text) => theirs.includes(text));

const contradictsReferences = (one: EntryFacts, other: EntryFacts): boolean =>
  contradict(parseReferences(one).all, parseReferences(other).all);

const isSameText = (one: EntryFacts, other: EntryFacts): boolean => {
  const [mine, theirs] = [one, other].map((row) => `${getPayer(row)}${getText(row)}`);
  return (
    mine === theirs || mine === "" || theirs === "" || isPart(mine, theirs) || isPart(theirs, mine)
  );
};

const isPart = (text = "", whole = ""): boolean => whole.includes(text);

const isSameMoney = (one: EntryFacts, other: EntryFacts): boolean =>
  one.currency === other.currency &&
  one.amount === other.amount &&
  (one.account === null || other.account === null || one.account === other.account);

const isAdvicePair = (one: EntryFacts, other: EntryFacts): boolean =>
  isAdvice(one) !== isAdvice(other);

/** An advice names accounts at other banks, so its account does not count. */
const isSameMoneyAsAdvice = (one: EntryFacts, other: EntryFacts): boolean =>
  one.currency === other.currency && one.amount === other.amount;

export const isPayerNamed = (one: EntryFacts, other: EntryFacts): boolean => {
  const [mine, theirs] = [getPayer(one), getPayer(other)];
  const has = (name: string, words: string): boolean =>
    name.length >= MIN_REFERENCE && words.includes(name);
  return has(mine, other.words) || has(theirs, one.words);
};

type Likeness = "same" | "doubtful" | undefined;

/** The references of an entry that its payer gave, without that of the bank. */
const listPayersReferences = (entry: EntryFacts): string[] =>
  parseReferences(entry).own.filter(
    (text) => toBankReference(entry.account, text) !== entry.bank_reference,
  );

/** Whether the payer gave each of them another reference. */
const contradictsPayer = (one: EntryFacts, other: EntryFacts): boolean =>
  contradict(listPayersReferences(one), listPayersReferences(other));

/** Whether both name another account and other references: the payer can have paid two accounts on one day. */
const contradictsAdvice = (one: EntryFacts, other: EntryFacts): boolean => {
  const isOtherAccount =
    one.account !== null && other.account !== null && one.account !== other.account;
  return isOtherAccount && contradictsPayer(one, other);
};

/** Whether both have one reference, which can be too short to be sure. */
const shareAny = (one: EntryFacts, other: EntryFacts): boolean => {
  const theirs = parseReferences(other).own;
  return parseReferences(one).own.some((text) => theirs.includes(text));
};

/** Whether a deposit names neither payer nor text nor a reference other than the bank's own. */
const isSilent = (entry: EntryFacts): boolean =>
  getPayer(entry) === "" && getText(entry) === "" && listPayersReferences(entry).length === 0;

/** Whether an advice and a deposit near its day may be about the same money, although nothing proves it. */
const mayBeSame = (one: EntryFacts, other: EntryFacts, days: number): boolean =>
  shareAny(one, other) || (days === 0 && isSilent(isAdvice(one) ? other : one));

export const compareAdvice = (one: EntryFacts, other: EntryFacts): Likeness => {
  const days = countDaysBetween(one.day, other.day);
  if (!isSameMoneyAsAdvice(one, other) || days > ADVICE_DAYS) return undefined;
  if (namesReferenceOf(one, other, "own")) return "same";
  // Instalments of one document can have equal amounts.
  if (namesReferenceOf(one, other, "all"))
    return days > 0 && contradictsPayer(one, other) ? "doubtful" : "same";
  if (days > NEAR_DAYS) return undefined;
  if (!isPayerNamed(one, other)) return mayBeSame(one, other, days) ? "doubtful" : undefined;
  return days === 0 && !contradictsAdvice(one, other) ? "same" : "doubtful";
};

const compareBankMessages = (one: EntryFacts, other: EntryFacts): Likeness => {
  if (!isSameMoney(one, other)) return undefined;
  const hasOneReference =
    one.bank_reference !== null && one.bank_reference === other.bank_reference;
  if (hasOneReference) return one.day === other.day ? "same" : "doubtful";
  if (one.day !== other.day) return undefined;
  const contradicts = contradictsReferences(one, other);
  // Without a reference of the bank, only messages of different kinds can be about the same money.
  if (one.kind === other.kind)
    return isSameText(one, other) && !contradicts ? "doubtful" : undefined;
  const [mine, theirs] = [parseReferences(one), parseReferences(other)];
  if (share(mine.own, theirs.own)) return "same";
  // Two payments of a day can be for one document.
  if (share(mine.all, theirs.all)) return contradictsPayer(one, other) ? "doubtful" : "same";
  if (contradicts) return undefined;
  return isSameText(one, other) ? "same" : "doubtful";
};

const compare = (one: EntryFacts, other: EntryFacts): Likeness =>
  isAdvicePair(one, other) ? compareAdvice(one, other) : compareBankMessages(one, other);

/** An advice, and the deposits of another payment to which it was joined; the first is that payment's own. */
export type Misjoined = {
  advice: PaymentEntryRow;
  equal: PaymentEntryRow;
  others: readonly PaymentEntryRow[];
};

/**
 * Finds the advice about a deposit that was joined to another deposit of the same account, day and
 * amount. The advice has a reference of this deposit, and none of that one.
 */
export const findMisjoined = (
  deposit: EntryFacts,
  candidates: readonly PaymentEntryRow[],
): Misjoined | undefined => {
  const { own } = parseReferences(deposit);
  if (isAdvice(deposit) || isReturn(deposit) || own.length === 0) return undefined;
  const isEqualTo = (equal: PaymentEntryRow, advice: PaymentEntryRow): boolean =>
    !isAdvice(equal) &&
    isSameMoney(deposit, equal) &&
    deposit.day === equal.day &&
    !namesReferenceOf(advice, equal, "own");
  for (const advice of candidates) {
    if (!isAdvice(advice) || !isSameMoneyAsAdvice(deposit, advice)) continue;
    if (!share(own, parseReferences(advice).own)) continue;
    const joined = candidates.filter(
      ({ id, joined_to: root }) => id === advice.joined_to || root === advice.id,
    );
    const [equal, ...others] = joined;
    if (equal !== undefined && joined.every((one) => isEqualTo(one, advice))) {
      return { advice, equal, others };
    }
  }
  return undefined;
};

/** Finds an advice that has a reference of entries of a bank, and to which none of a bank is joined. */
export const findLonelyAdvice = (
  entries: readonly PaymentEntryRow[],
  candidates: readonly PaymentEntryRow[],
): PaymentEntryRow | undefined =>
  candidates.find(
    (advice) =>
      isAdvice(advice) &&
      advice.joined_to === null &&
      candidates.every(({ joined_to: root }) => root !== advice.id) &&
      entries.some(
        (one) =>
          isSameMoneyAsAdvice(one, advice) &&
          share(parseReferences(one).own, parseReferences(advice).own),
      ),
  );

/** The first reference of an entry that its payer gave, else that of the bank, without signs. */
export const getReference = (entry: EntryFacts): string | undefined =>
  listPayersReferences(entry)[0] ?? parseReferences(entry).own[0];

/** Whether entries have the same facts, as two that a file has twice with their message. */
const areEqual = (one: EntryFacts, other: EntryFacts): boolean =>
  isSameMoney(one, other) &&
  one.day === other.day &&
  one.reference_list === other.reference_list &&
  one.words === other.words;

/** Whether two entries are about different money: those of one message, and of one side with other references. */
export const areDistinct = (one: EntryFacts, other: EntryFacts): boolean =>
  one.message === other.message
    ? !areEqual(one, other)
    : !isAdvicePair(one, other) && contradictsReferences(one, other);

const DUPLICATE = "possible duplicate of ";

/** An entry, and the one that it may repeat: with another amount, one may be a part of the other. */
export type Amounts = { of: Money; like: Money };
type Money = Pick<EntryFacts, "amount" | "currency">;

export const describeMoney = ({ amount, currency }: Money): string =>
  `${new Big(amount).toFixed(findCurrencyDecimals(currency))} ${currency}`;

/** Says that a payment may repeat another one, or be a part of it, or have it as a part. */
export const describeDoubt = (paymentId: string, amounts?: Amounts): string => {
  const text = `${DUPLICATE}${paymentId}`;
  if (amounts === undefined || amounts.of.amount === amounts.like.amount) return text;
  const { of, like } = amounts;
  return new Big(of.amount).abs().lt(new Big(like.amount).abs())
    ? `${text}: these ${describeMoney(of)} may be a part of its ${describeMoney(like)}`
    : `${text}: its ${describeMoney(like)} may be a part of these ${describeMoney(of)}`;
};

/** Returns a payment's doubts without the one that it repeats another payment; null if there is no other. */
export const withoutDuplicate = (doubt: string): string | null =>
  doubt
    .split("; ")
    .filter((one) => !one.startsWith(DUPLICATE))
    .join("; ") || null;

const moneyOf = ({ currency, amount }: EntryFacts): string => `${currency} ${amount}`;

/** Tests of pairs of entries, the surest first; the last one is true of every pair. */
const isSure: readonly ((one: EntryFacts, other: PaymentEntryRow) => boolean)[] = [
  (one, other) =>
    (one.bank_reference !== null && one.bank_reference === other.bank_reference) ||
    share(parseReferences(one).own, parseReferences(other).own),
  (one, other) => share(parseReferences(one).all, parseReferences(other).all),
  (one, other) => [one, other].every((entry) => parseReferences(entry).all.length === 0),
  () => true,
];

/** Stands for a message that has an advice's payment within an entry. */
const BATCH = "batch";

/** Indexes stored entries by their money, with the messages that each money has already. */
const indexMoney = (candidates: readonly PaymentEntryRow[], own: ReadonlySet<string>) => {
  const byId = new Map(candidates.map((row) => [row.id, row]));
  const rootOf = (row: PaymentEntryRow): PaymentEntryRow =>
    (row.joined_to === null ? undefined : byId.get(row.joined_to)) ?? row;
  /** The kinds of messages that are about the money of an entry, by the id of the first one. */
  const kinds = new Map<string, Set<string>>();
  const addKind = (root: string, kind: string): void =>
    void kinds.set(root, (kinds.get(root) ?? new Set()).add(kind));
  for (const row of candidates) {
    addKind(rootOf(row).id, row.kind);
    // The entry of several that has the payment of an advice answers it.
    if (isAdvice(row) && row.part_of !== null) addKind(rootOf(row).id, BATCH);
  }
  const kindsOf = (row: PaymentEntryRow): string[] => [...(kinds.get(rootOf(row).id) ?? [])];
  /** Money that an entry of the file is about already, which no other entry of the file repeats. */
  const taken = new Set<string>();
  for (const row of candidates) {
    if (!own.has(row.id)) continue;
    taken.add(rootOf(row).id);
    const like = row.doubt_of === null ? undefined : byId.get(row.doubt_of);
    if (like !== undefined) taken.add(rootOf(like).id);
  }
  const others = candidates.filter(({ id }) => !own.has(id));
  return { byMoney: Map.groupBy(others, moneyOf), rootOf, addKind, kindsOf, taken };
};

/**
 * Finds stored entries that the entries of a new file repeat. Each of them is repeated by one entry of a kind at most;
 * the surest pairs are joined first, because several payments of a payer can have the same amount and day. `own` are
 * the ids of the file's entries that are stored already: they are never repeated, but the entries that they repeat are.
 */
export const createJoiner = (candidates: readonly PaymentEntryRow[], own: ReadonlySet<string>) => {
  const { byMoney, rootOf, addKind, kindsOf, taken } = indexMoney(candidates, own);
  /** Money with a message of the entry's side: only that message tells whether the entry is about it. */
  const isAnswered = (entry: EntryFacts, other: PaymentEntryRow): boolean =>
    isAdvicePair(entry, other) &&
    kindsOf(other).some(
      (kind) =>
        isAdvice({ kind }) === isAdvice(entry) &&
        // A bank can have an entry for a payment besides the one for all.
        !(kind === BATCH && share(parseReferences(entry).own, parseReferences(other).own)),
    );
  const listLike = (entry: EntryFacts) =>
    (byMoney.get(moneyOf(entry)) ?? []).flatMap((other) => {
      const likeness = isAnswered(entry, other) ? undefined : compare(entry, other);
      return likeness === undefined ? [] : [{ other, root: rootOf(other), likeness }];
    });
  const isRepeated = (entry: EntryFacts, other: PaymentEntryRow, root: PaymentEntryRow): boolean =>
    taken.has(root.id) ||
    (kindsOf(root).includes(entry.kind) &&
      (entry.bank_reference === null || entry.bank_reference !== other.bank_reference));
  const decideRest = (like: ReturnType<typeof listLike>): Verdict => {
    const found = like.find(({ root }) => !taken.has(root.id))?.root;
    if (found === undefined) return { as: "new" };
    taken.add(found.id);
    return doubt(found.id, parsePaymentIds(found)[0] ?? found.id);
  };
  return {
    /** Decides on all entries of a batch, in their order where they are equally sure. */
    judge(entries: readonly EntryFacts[]): Map<string, Verdict> {
      const verdicts = new Map<string, Verdict>();
      const compared = entries.map((entry) => ({ entry, like: listLike(entry) }));
      for (const isSureEnough of isSure) {
        for (const { entry, like } of compared) {
          if (verdicts.has(entry.id)) continue;
          const same = like.find(
            ({ other, root, likeness }) =>
              likeness === "same" && isSureEnough(entry, other) && !isRepeated(entry, other, root),
          );
          if (same === undefined) continue;
          taken.add(same.root.id);
          addKind(same.root.id, entry.kind);
          verdicts.set(entry.id, { as: "joined", root: same.root });
        }
      }
      for (const { entry, like } of compared) {
        if (!verdicts.has(entry.id)) verdicts.set(entry.id, decideRest(like));
      }
      return verdicts;
    },
  };
};

/** Whether an amount is below zero, which means a return. */
export const isReturn = ({ amount }: Pick<EntryFacts, "amount">): boolean => new Big(amount).lt(0);
