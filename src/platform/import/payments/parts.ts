import Big from "big.js";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { StoredPayment } from "../../store/queries/payments.ts";
import type { EntryPayment } from "../bank/entry.ts";
import {
  type EntryFacts,
  MOST_REFERENCES,
  normalizeText,
  parsePaymentIds,
  parseReferences,
  toBankReference,
} from "./entry-facts.ts";
import { countDaysBetween, MIN_REFERENCE } from "./joining.ts";

/** The entry of a batch and those of its payments can be dated some days apart. */
export const BATCH_DAYS = 5;

/**
 * The {@link EntryFacts.detail} of a batch whose payments are entries of their own: no other message about the batch as
 * a whole has more to say.
 */
export const COMPLETE_DETAIL = 1_000_000_000;

/** A stored payment of a batch. */
export type Part = {
  paymentId: string;
  amount: Big;
  /** Its reference, as {@link normalizeText} writes it. */
  reference: string;
  /** The number of documents that it names. */
  lines: number;
};

/** Collects the payments that rows are of. */
export const collectParts = (rows: readonly StoredPayment[]): Part[] =>
  [...Map.groupBy(rows, (row) => String(row["payment_id"]))].map(([paymentId, own]) => ({
    paymentId,
    amount: new Big(String(own[0]?.["payment_amount"] ?? 0)),
    reference: normalizeText(String(own[0]?.["payment_reference"] ?? "")),
    lines: own.filter(({ invoice_number: number }) => number !== null).length,
  }));

/** Whether two entries are credits of one account, in one currency and near one day. */
export const isBeside = (one: EntryFacts, other: EntryFacts): boolean =>
  one.account !== null &&
  one.account === other.account &&
  one.currency === other.currency &&
  countDaysBetween(one.day, other.day) <= BATCH_DAYS &&
  new Big(one.amount).gt(0) &&
  new Big(other.amount).gt(0);

/** References of payments of a batch, without those of the batch itself, which all of them share. */
export const listOwn = (batch: EntryFacts, references: readonly string[]): string[] =>
  references.map(normalizeText).filter((text) => {
    if (text === "") return false;
    const stored = toBankReference(batch.account, text);
    return stored !== batch.bank_reference && stored !== batch.batch_reference;
  });

/** Whether a reference of the bank decides, or on one day another one. */
const shareReference = (
  single: EntryFacts,
  batch: EntryFacts,
  references: readonly string[],
): boolean =>
  parseReferences(single).own.some(
    (text) =>
      references.includes(text) &&
      (toBankReference(single.account, text) === single.bank_reference ||
        (single.day === batch.day && text.length >= MIN_REFERENCE)),
  );

/** Whether an entry can be about a payment of a stored batch, of which not all references need be stored. */
export const mayBePartOf = (single: EntryFacts, batch: PaymentEntryRow): boolean => {
  if (single.kind === batch.kind || !isBeside(single, batch)) return false;
  const { own } = parseReferences(batch);
  return own.length >= MOST_REFERENCES || shareReference(single, batch, listOwn(batch, own));
};

/** Finds the payment of a stored batch that an entry is about: one of its amount, by a reference. */
export const findPart = (
  single: EntryFacts,
  batch: EntryFacts,
  parts: readonly Part[],
): Part | undefined => {
  const equal = parts.filter(({ amount }) => amount.eq(single.amount));
  const named = equal.find(({ reference }) => shareReference(single, batch, [reference]));
  if (named !== undefined) return named;
  const references = listOwn(batch, parseReferences(batch).own);
  return shareReference(single, batch, references) ? equal[0] : undefined;
};

/** Finds the stored entry that is about a payment of a new batch. */
export const findSingle = (
  batch: EntryFacts,
  { amount, references }: EntryPayment,
  singles: readonly PaymentEntryRow[],
): PaymentEntryRow | undefined => {
  const own = listOwn(batch, references.map(normalizeText));
  return singles.find(
    (single) => new Big(amount).eq(single.amount) && shareReference(single, batch, own),
  );
};

const isNamed = (single: EntryFacts, batch: EntryFacts): boolean => {
  const { bank_reference: bank, batch_reference: collection } = single;
  if (bank !== null && bank === batch.bank_reference) return true;
  if (collection !== null && collection === batch.batch_reference) return true;
  if (collection !== null && collection === batch.bank_reference) return true;
  if (batch.part_count === null) return false;
  const isOfBatch = (text: string): boolean =>
    toBankReference(single.account, text) === batch.batch_reference;
  return (
    parseReferences(single).own.some(isOfBatch) ||
    shareReference(single, batch, listOwn(batch, parseReferences(batch).own))
  );
};

const toKeys = (entry: EntryFacts, references: readonly string[]): string[] => [
  ...[entry.bank_reference, entry.batch_reference].flatMap((key) => key ?? []),
  ...references.map((text) => `${entry.account ?? ""}:${text}`),
];

/** Indexes entries by their references; `isListed` tells of which one all references count. */
const indexEntries = <T extends EntryFacts>(
  entries: readonly T[],
  isListed: (entry: T) => boolean,
) => {
  const byKey = new Map<string, Set<T>>();
  for (const entry of entries) {
    for (const key of toKeys(entry, isListed(entry) ? parseReferences(entry).own : [])) {
      const found = byKey.get(key);
      if (found === undefined) byKey.set(key, new Set([entry]));
      else found.add(entry);
    }
  }
  return byKey;
};

const lookUp = <T>(byKey: ReadonlyMap<string, ReadonlySet<T>>, keys: readonly string[]): T[] => [
  ...new Set(keys.flatMap((key) => [...(byKey.get(key) ?? [])])),
];

/** Returns a function that finds the batches, each stored as one payment, of which an entry has a reference. */
export const createBatchSearch = (batches: readonly PaymentEntryRow[]) => {
  const byKey = indexEntries(batches, (batch) => batch.part_count !== null);
  return (single: EntryFacts): PaymentEntryRow[] =>
    lookUp(byKey, toKeys(single, parseReferences(single).own)).filter((batch) =>
      namesBatch(single, batch),
    );
};

/** Returns a function that finds the entries that have a reference of a batch. */
export const createSingleSearch = (singles: readonly PaymentEntryRow[]) => {
  const byKey = indexEntries(singles, () => true);
  return (batch: EntryFacts): PaymentEntryRow[] =>
    lookUp(
      byKey,
      toKeys(batch, batch.part_count === null ? [] : parseReferences(batch).own),
    ).filter((single) => namesBatch(single, batch));
};

const lengthOf = (reference: string | null): number =>
  reference === null ? 0 : reference.length - reference.indexOf(":") - 1;

/** Messages of one kind use a reference again on other days, and short ones for other things. */
const isOfOneKind = (single: EntryFacts, batch: EntryFacts): boolean =>
  single.day === batch.day &&
  Math.max(lengthOf(batch.bank_reference), lengthOf(batch.batch_reference)) >= MIN_REFERENCE;

/** Whether an entry has a reference of a batch that is stored as one payment, and less money than it. */
const namesBatch = (single: EntryFacts, batch: EntryFacts): boolean =>
  isBeside(single, batch) &&
  single.message !== batch.message &&
  (single.kind !== batch.kind || isOfOneKind(single, batch)) &&
  new Big(single.amount).lt(batch.amount) &&
  isNamed(single, batch);

/** Keeps the entries of the day of a batch, if there are some. */
export const preferDay = <T extends { day: string }>(entries: readonly T[], day: string): T[] => {
  const same = entries.filter((one) => one.day === day);
  return same.length > 0 ? same : [...entries];
};

/** Whether a stored entry has its payments itself. */
export const isMoney = (row: PaymentEntryRow): boolean =>
  row.joined_to === null && row.doubt !== "same" && parsePaymentIds(row).length > 0;

/** Whether a stored entry is one payment, which can be a batch that the bank did not divide. */
export const isUndivided = (row: PaymentEntryRow): boolean =>
  isMoney(row) &&
  row.part_of === null &&
  row.doubt !== "different" &&
  row.detail < COMPLETE_DETAIL &&
  parsePaymentIds(row).length === 1;

export const addUp = (entries: readonly Pick<EntryFacts, "amount">[]): Big =>
  entries.reduce((sum, { amount }) => sum.plus(amount), new Big(0));
