import Big from "big.js";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { StoredPayment } from "../../store/queries/payments.ts";
import type { EntryPayment } from "../bank/entry.ts";
import {
  describePart,
  type EntryFacts,
  isAdvice,
  LEAST_DETAIL,
  MOST_REFERENCES,
  normalizeText,
  parsePaymentIds,
  parseReferences,
  toBankReference,
} from "./entry-facts.ts";
import { ADVICE_DAYS, countDaysBetween, isReturn, MIN_REFERENCE } from "./joining.ts";

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

/** Whether two entries are both credits or both returns of one account, in one currency and near one day. */
export const isBeside = (one: EntryFacts, other: EntryFacts): boolean =>
  one.account !== null &&
  one.account === other.account &&
  one.currency === other.currency &&
  countDaysBetween(one.day, other.day) <= BATCH_DAYS &&
  isReturn(one) === isReturn(other);

type Amount = Pick<EntryFacts, "amount">;

/** Whether an entry is about less money than another one, of credits or of returns. */
export const isSmaller = (one: Amount, other: Amount): boolean =>
  new Big(one.amount).abs().lt(new Big(other.amount).abs());

/** References of payments of a batch, without those of the batch itself, which all of them share. */
export const listOwn = (batch: EntryFacts, references: readonly string[]): string[] =>
  references.map(normalizeText).filter((text) => {
    if (text === "") return false;
    const stored = toBankReference(batch.account, text);
    return stored !== batch.bank_reference && stored !== batch.batch_reference;
  });

/** A payment within an entry of several, as other entries are compared with it. */
export type BatchPart = {
  batch: EntryFacts;
  paymentId: string;
  /** The payment as an entry of its own. */
  facts: EntryFacts;
  /** The place of the payment in the entry of its file; of a stored one, among those of its batch. */
  place: number;
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Describes the payments of a new batch. */
export const describeParts = (
  batch: EntryFacts,
  payments: readonly EntryPayment[],
  paymentIds: readonly string[],
): BatchPart[] =>
  payments.map(({ amount, references, remittances, cells }, place) => ({
    batch,
    paymentId: paymentIds[place] ?? "",
    place,
    facts: describePart(batch, {
      amount,
      references: listOwn(batch, references),
      documents: remittances.map(({ cells: own }) => own["invoiceNumber"]),
      payer: textOf(cells["payerName"]),
      text: textOf(cells["remittanceText"]),
      detail: LEAST_DETAIL + remittances.length,
    }),
  }));

/** Describes the payments of a stored batch. Their rows have one reference each, the batch has the others of them all. */
export const describeStoredParts = (
  batch: PaymentEntryRow,
  paymentIds: readonly string[],
  byPayment: ReadonlyMap<string, readonly StoredPayment[]>,
): BatchPart[] => {
  const named = [...byPayment.values()].map(([row]) => textOf(row?.["payment_reference"]));
  const taken = new Set(listOwn(batch, named));
  const others = listOwn(batch, parseReferences(batch).own).filter((text) => !taken.has(text));
  return paymentIds.flatMap((paymentId, place) => {
    const rows = byPayment.get(paymentId) ?? [];
    const [first] = rows;
    if (first === undefined) return [];
    const numbers = rows.flatMap(({ invoice_number: number }) => number ?? []);
    const facts = describePart(batch, {
      amount: String(first["payment_amount"] ?? 0),
      references: [...listOwn(batch, [textOf(first["payment_reference"])]), ...others],
      documents: numbers,
      payer: textOf(first["payer_name"]),
      text: textOf(first["remittance_text"]),
      detail: LEAST_DETAIL + numbers.length,
    });
    return [{ batch, paymentId, place, facts }];
  });
};

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

/** Without the account: that of an advice is at another bank. */
const withoutAccount = (key: string): string => key.slice(key.indexOf(":"));

const toKeys = (entry: EntryFacts, references: readonly string[]): string[] => {
  const keys = [
    ...[entry.bank_reference, entry.batch_reference].flatMap((key) => key ?? []),
    ...references.map((text) => `${entry.account ?? ""}:${text}`),
  ];
  return [...keys, ...keys.map(withoutAccount)];
};

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

/** Whether an advice has a reference of a batch or, where the batch has no amounts for them, of its transactions. */
const isAdviceOf = (advice: EntryFacts, batch: EntryFacts): boolean => {
  const ofBatch = toKeys(batch, batch.part_count === null ? [] : parseReferences(batch).own);
  return (
    advice.currency === batch.currency &&
    countDaysBetween(advice.day, batch.day) <= ADVICE_DAYS &&
    isReturn(advice) === isReturn(batch) &&
    parseReferences(advice).own.some(
      (text) => text.length >= MIN_REFERENCE && ofBatch.includes(`:${text}`),
    )
  );
};

/** Whether an entry has a reference of a batch that is stored as one payment, and less money than it. */
const namesBatch = (single: EntryFacts, batch: EntryFacts): boolean =>
  isSmaller(single, batch) &&
  (isAdvice(single) ? isAdviceOf(single, batch) : isSingleOf(single, batch));

const isSingleOf = (single: EntryFacts, batch: EntryFacts): boolean =>
  isBeside(single, batch) &&
  single.message !== batch.message &&
  (single.kind !== batch.kind || isOfOneKind(single, batch)) &&
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

export const addUp = (entries: readonly Amount[]): Big =>
  entries.reduce((sum, { amount }) => sum.plus(amount), new Big(0));
