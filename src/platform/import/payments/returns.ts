import Big from "big.js";
import {
  findEntries,
  findEntriesByAmount,
  findEntriesByReference,
  findWaitingReturns,
  putEntries,
  RETURN_WAITS,
} from "../../store/queries/payment-entries.ts";
import { readReturnsOf } from "../../store/queries/payment-matching.ts";
import { findRowsOfPayments, type StoredPayment } from "../../store/queries/payments.ts";
import { settleReturn } from "../../services/payments/matching/settle.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Journal } from "../target.ts";
import {
  getPayer,
  normalizeText,
  parsePaymentIds,
  parseReferences,
  toBankReference,
} from "./entry-facts.ts";
import { shiftDay } from "./joining.ts";
import { type BatchPart, describeStoredParts } from "./parts.ts";
import { savePayments, type SaveNeeds, type WholePayment } from "./save.ts";

/** Banks return items within this time; later ones are found by a reference of the bank alone. */
const RETURN_DAYS = 400;
const MOST_WAITING = 1000;

type Return = Pick<
  PaymentEntryRow,
  "account" | "amount" | "currency" | "day" | "words" | "reference_list"
>;

const isCandidate = (back: Return, entry: PaymentEntryRow): boolean =>
  entry.currency === back.currency &&
  new Big(entry.amount).gt(0) &&
  (entry.account === null || back.account === null || entry.account === back.account);

const isCovered = (back: Return, entry: PaymentEntryRow): boolean =>
  new Big(entry.amount).gte(new Big(back.amount).abs());

const sharesOwn = (back: Return, entry: PaymentEntryRow): boolean =>
  parseReferences(back).own.some((text) => parseReferences(entry).own.includes(text));

const countShared = (back: Return, entry: PaymentEntryRow): number => {
  const theirs = new Set(parseReferences(entry).all);
  return parseReferences(back).all.filter((text) => theirs.has(text)).length;
};

const isAlike = (back: Return, entry: PaymentEntryRow): boolean =>
  getPayer(back) !== "" &&
  getPayer(entry) === getPayer(back) &&
  new Big(entry.amount).eq(new Big(back.amount).abs());

/** Returns the entry of which more references are those of a return; of equal ones, the last one before it. */
const chooseNamed = (
  back: Return,
  candidates: readonly PaymentEntryRow[],
): PaymentEntryRow | undefined => {
  const named = candidates
    .map((entry) => ({ entry, shared: countShared(back, entry), isAlike: isAlike(back, entry) }))
    .filter(({ shared }) => shared > 0)
    .toSorted(
      (a, b) =>
        b.shared - a.shared ||
        Number(b.isAlike) - Number(a.isAlike) ||
        Number(b.entry.day <= back.day) - Number(a.entry.day <= back.day) ||
        (a.entry.day < b.entry.day ? 1 : -1),
    );
  return named[0]?.entry;
};

const rootIdOf = ({ id, joined_to: root }: PaymentEntryRow): string => root ?? id;

/** The entry that a return takes back; `isNamed`: the return has a reference of it. */
type Found = { entry: PaymentEntryRow; isNamed: boolean };

/**
 * Finds the entry that a return takes back: by a reference, also a smaller one to which the bank added charges, else the
 * only one of its payer with its amount.
 */
const chooseReturned = (
  back: Return,
  candidates: readonly PaymentEntryRow[],
): Found | undefined => {
  const possible = candidates.filter((entry) => isCandidate(back, entry));
  const covering = possible.filter((entry) => isCovered(back, entry));
  const smaller = possible.filter((entry) => !isCovered(back, entry) && sharesOwn(back, entry));
  const named = chooseNamed(back, covering) ?? chooseNamed(back, smaller);
  if (named !== undefined) return { entry: named, isNamed: true };
  const alike = possible.filter((entry) => isAlike(back, entry));
  const [entry] = alike;
  const isOnly = new Set(alike.map(rootIdOf)).size === 1;
  return entry !== undefined && isOnly ? { entry, isNamed: false } : undefined;
};

const findReturned = async (tx: Db, tenantId: string, back: Return): Promise<Found | undefined> => {
  const named = parseReferences(back).all;
  const references = named.flatMap((text) => toBankReference(back.account, text) ?? []);
  const byReference = await findEntriesByReference(tx, tenantId, references);
  const byAmount = await findEntriesByAmount(tx, tenantId, {
    currency: back.currency,
    amounts: [new Big(back.amount).abs().toFixed()],
    from: shiftDay(back.day, -RETURN_DAYS),
    to: shiftDay(back.day, RETURN_DAYS),
  });
  return chooseReturned(back, [...byReference, ...byAmount]);
};

/** Returns the payment of an entry that a return names, else one of its amount, else the first one. */
const choosePaymentId = async (
  tx: Db,
  { tenantId, source }: SaveNeeds,
  back: Return,
  entry: PaymentEntryRow,
): Promise<string | undefined> => {
  const root =
    entry.joined_to === null ? undefined : await findEntries(tx, tenantId, [entry.joined_to]);
  const ids = parsePaymentIds(root?.[0] ?? entry);
  if (ids.length < 2) return ids[0];
  const references = new Set(parseReferences(back).all);
  const rows = await findRowsOfPayments(tx, tenantId, source, ids);
  const named =
    rows.find(({ payment_reference: text }) => references.has(normalizeText(String(text ?? "")))) ??
    rows.find(({ payment_amount: amount }) =>
      new Big(String(amount ?? 0)).eq(new Big(back.amount).abs()),
    );
  return named === undefined ? ids[0] : String(named["payment_id"]);
};

/** A return with its id as a payment; an entry of several has one for each. */
export type ReturnPart = { paymentId: string; facts: Return };

/** The payments that the returns of an entry take back, by the returns' ids. */
type Links = Map<string, { paymentId: string; isNamed: boolean }>;

/** Finds the payments that the returns of an entry take back, each by its own references and amount. */
const findLinks = async (
  tx: Db,
  needs: SaveNeeds,
  parts: readonly ReturnPart[],
): Promise<Links> => {
  const links: Links = new Map();
  for (const { paymentId: id, facts } of parts) {
    const found = await findReturned(tx, needs.tenantId, facts);
    if (found === undefined) continue;
    const paymentId = await choosePaymentId(tx, needs, facts, found.entry);
    if (paymentId !== undefined) links.set(id, { paymentId, isNamed: found.isNamed });
  }
  return links;
};

/** A return that was found without a reference waits for a payment of which it has one. */
const setLinked = (
  before: PaymentEntryRow,
  isNamed: boolean,
  journal: Journal,
): PaymentEntryRow => {
  const after = { ...before, waits: isNamed ? null : RETURN_WAITS.forReference };
  journal.changed("payment_entries", before, after);
  return after;
};

const areAllNamed = (links: Links): boolean => [...links.values()].every(({ isNamed }) => isNamed);

/** The returns of an entry that are to be saved; `parts` are all of the entry's returns. */
export type EntryReturns = {
  row: PaymentEntryRow;
  whole: readonly WholePayment[];
  parts: readonly ReturnPart[];
};

/** Saves the returns of a journal, after its payments. A return whose payment is not known yet waits for it. */
export const saveReturns = async (
  tx: Db,
  needs: SaveNeeds,
  returns: readonly EntryReturns[],
  journal: Journal,
): Promise<Set<string>> => {
  const saved: WholePayment[] = [];
  const linked: PaymentEntryRow[] = [];
  for (const { row, whole, parts } of returns) {
    const own = new Set(whole.map(({ paymentId }) => paymentId));
    const isWaiting = row.waits === RETURN_WAITS.forPayment;
    const waiting = isWaiting ? parts.filter(({ paymentId }) => own.has(paymentId)) : [];
    const links = await findLinks(tx, needs, waiting);
    for (const one of whole) {
      const link = links.get(one.paymentId);
      saved.push(link === undefined ? one : { ...one, returnedPaymentId: link.paymentId });
    }
    if (isWaiting && links.size === own.size) {
      linked.push(setLinked(row, areAllNamed(links), journal));
    }
  }
  await putEntries(tx, linked);
  return savePayments(tx, needs, saved, journal);
};

/** Describes the returns of an entry: itself, or each of several, whose account is that of the entry. */
export const describeReturns = (
  entry: Return,
  paymentIds: readonly string[],
  describe: () => readonly BatchPart[],
): ReturnPart[] => {
  const [first] = paymentIds;
  if (paymentIds.length < 2) return first === undefined ? [] : [{ paymentId: first, facts: entry }];
  const { account } = entry;
  return describe().map(({ paymentId, facts }) => ({ paymentId, facts: { ...facts, account } }));
};

/** Describes the returns of a stored entry. Those of an entry of several have the references of their rows. */
const describeStored = (
  back: PaymentEntryRow,
  byPayment: ReadonlyMap<string, readonly StoredPayment[]>,
): ReturnPart[] => {
  const ids = parsePaymentIds(back);
  return describeReturns(back, ids, () =>
    describeStoredParts({ ...back, reference_list: "[]" }, ids, byPayment),
  );
};

/** Finds the payments that the returns of a stored entry take back. */
export const linkReturns = async (
  tx: Db,
  needs: SaveNeeds,
  back: PaymentEntryRow,
  journal: Journal,
): Promise<void> => {
  const { tenantId, source, now } = needs;
  const rows = await findRowsOfPayments(tx, tenantId, source, parsePaymentIds(back));
  const byPayment = Map.groupBy(rows, ({ payment_id: id }) => String(id));
  const parts = describeStored(back, byPayment);
  const links = await findLinks(tx, needs, parts);
  let isEachLinked = links.size === parts.length && parts.length > 0;
  for (const [returnPaymentId, { paymentId, isNamed }] of links) {
    const own = byPayment.get(returnPaymentId) ?? [];
    const former = new Set(own.flatMap(({ returned_payment_id: id }) => id ?? []));
    // A payment that was found before gives way only to one that the return names.
    if (former.size > 0 && !isNamed) {
      isEachLinked = false;
      continue;
    }
    if (!former.has(paymentId) || former.size > 1) {
      await settleReturn(tx, { tenantId, now }, { returnPaymentId, paymentId });
    }
  }
  if (isEachLinked) await putEntries(tx, [setLinked(back, areAllNamed(links), journal)]);
};

/** Links returns that came before their payments to those of new entries. */
export const linkWaitingReturns = async (
  tx: Db,
  needs: SaveNeeds,
  fresh: readonly PaymentEntryRow[],
  journal: Journal,
): Promise<void> => {
  if (fresh.length === 0) return;
  for (const back of await findWaitingReturns(tx, needs.tenantId, MOST_WAITING)) {
    const isConcerned = fresh.some(
      (entry) => isCandidate(back, entry) && (countShared(back, entry) > 0 || isAlike(back, entry)),
    );
    if (isConcerned) await linkReturns(tx, needs, back, journal);
  }
};

/** Finds the payments of an entry's returns again, after another entry took its payment. */
export const relinkReturns = async (
  tx: Db,
  needs: SaveNeeds,
  entry: PaymentEntryRow,
  journal: Journal,
): Promise<void> => {
  const rows = await readReturnsOf(tx, needs.tenantId, parsePaymentIds(entry));
  const ids = new Set(rows.map(({ values }) => values["paymentId"]));
  if (ids.size === 0) return;
  const amounts = rows.map(({ values }) => new Big(Number(values["paymentAmount"])).toFixed());
  const backs = await findEntriesByAmount(tx, needs.tenantId, {
    currency: entry.currency,
    amounts: [...new Set(amounts)],
    from: shiftDay(entry.day, -RETURN_DAYS),
    to: shiftDay(entry.day, RETURN_DAYS),
  });
  for (const back of backs) {
    if (parsePaymentIds(back).some((id) => ids.has(id)))
      await linkReturns(tx, needs, back, journal);
  }
};
