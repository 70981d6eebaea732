import {
  findBatches,
  findEntriesByAmount,
  findEntriesByBatch,
  findEntriesByReference,
  findEntries,
  hasAdvices,
  listAccountsOfEntries,
} from "../../store/queries/payment-entries.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import { type EntryFacts, isAdvice, parseReferences } from "./entry-facts.ts";
import { ADVICE_DAYS, shiftDay } from "./joining.ts";

/** Stored batches that entries can be payments of, and stored payments of batches among the entries. */
const findBatchesOf = async (
  tx: Db,
  tenantId: string,
  entries: readonly EntryFacts[],
): Promise<PaymentEntryRow[]> => {
  const accounts = entries.flatMap(({ account }) => account ?? []);
  const withAdvices = entries.some(isAdvice);
  if (accounts.length === 0 && !withAdvices) return [];
  const days = entries.map(({ day }) => day).toSorted();
  const near = {
    // An advice names an account at another bank.
    accounts: withAdvices ? undefined : [...new Set(accounts)],
    from: shiftDay(days[0] ?? "", -ADVICE_DAYS),
    to: shiftDay(days.at(-1) ?? "", ADVICE_DAYS),
  };
  const references = entries.flatMap((entry) =>
    isAdvice(entry) ? [] : (entry.batch_reference ?? []),
  );
  return [
    ...(await findBatches(tx, tenantId, near)),
    ...(references.length === 0
      ? []
      : await findEntriesByBatch(tx, tenantId, [...new Set(references)])),
  ];
};

/**
 * Finds the stored entries that have the reference of an advice, at any account, and the stored advices that have one of
 * the entries: each can be about a batch that the bank did not divide.
 */
const findAdvised = async (
  tx: Db,
  tenantId: string,
  entries: readonly EntryFacts[],
): Promise<PaymentEntryRow[]> => {
  const [advices, others] = [entries.filter(isAdvice), entries.filter((one) => !isAdvice(one))];
  const found: PaymentEntryRow[][] = [];
  const keys = advices.flatMap(({ batch_reference: key }) => key ?? []);
  if (keys.length > 0) {
    for (const account of await listAccountsOfEntries(tx, tenantId)) {
      const references = keys.map((key) => `${account}${key}`);
      found.push(
        await findEntriesByReference(tx, tenantId, references),
        await findEntriesByBatch(tx, tenantId, references),
      );
    }
  }
  if (others.length > 0 && (await hasAdvices(tx, tenantId))) {
    const named = others.flatMap((one) => [
      ...parseReferences(one).own.map((text) => `:${text}`),
      ...[one.batch_reference].flatMap((key) => key?.slice(key.indexOf(":")) ?? []),
    ]);
    found.push(await findEntriesByBatch(tx, tenantId, [...new Set(named)]));
  }
  return found.flat();
};

/** What a payment within an entry of several can be stored as: an entry of its own. */
export type PartFacts = Pick<EntryFacts, "currency" | "amount" | "day"> & {
  references: readonly string[];
};

/**
 * Stored entries that may be about the same money as those of a batch, with the entries that they were joined to.
 * `parts` are the payments within its entries of several.
 */
export const findCandidates = async (
  tx: Db,
  tenantId: string,
  entries: readonly EntryFacts[],
  parts: readonly PartFacts[] = [],
): Promise<PaymentEntryRow[]> => {
  const references = [
    ...entries.flatMap(({ bank_reference: own }) => own ?? []),
    ...parts.flatMap((part) => part.references),
  ];
  const byReference = await findEntriesByReference(tx, tenantId, references);
  // Not spread as arguments, of which there can be at most some ten thousand: many payments can have one amount.
  const found = new Map(byReference.map((row) => [row.id, row]));
  for (const [currency, same] of Map.groupBy([...entries, ...parts], (entry) => entry.currency)) {
    const days = same.map(({ day }) => day).toSorted();
    const range = {
      currency,
      amounts: [...new Set(same.map(({ amount }) => amount))],
      // The entries that an advice was joined to can be as far from it again.
      from: shiftDay(days[0] ?? "", -2 * ADVICE_DAYS),
      to: shiftDay(days.at(-1) ?? "", 2 * ADVICE_DAYS),
    };
    for (const row of await findEntriesByAmount(tx, tenantId, range)) found.set(row.id, row);
  }
  for (const row of await findBatchesOf(tx, tenantId, entries)) found.set(row.id, row);
  for (const row of await findAdvised(tx, tenantId, entries)) found.set(row.id, row);
  const roots = [...found.values()].flatMap(({ joined_to: root }) => root ?? []);
  for (const row of await findEntries(tx, tenantId, [...new Set(roots)])) found.set(row.id, row);
  return [...found.values()];
};
