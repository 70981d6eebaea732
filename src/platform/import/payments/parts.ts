import Big from "big.js";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import { parsePaymentIds, toBankReference } from "./entry-facts.ts";
import { doubt, isAdvice } from "./joining.ts";
import type { Judged } from "./judged.ts";

type Batch = Pick<Judged, "facts" | "entry">;

/** The payments of an entry of several, by the reference that the bank gives an entry of each. */
const indexParts = ({ facts, entry }: Batch): Map<string, Big> => {
  const parts = new Map<string, Big>();
  if (entry.payments.length < 2 || isAdvice(facts)) return parts;
  for (const { references, amount } of entry.payments) {
    for (const reference of references) {
      const own = toBankReference(facts.account, reference);
      if (own !== null) parts.set(own, new Big(amount));
    }
  }
  return parts;
};

/** Returns the references under which the payments of batches may be stored as entries of their own. */
export const listPartReferences = (batches: readonly Batch[]): string[] =>
  batches.flatMap((one) => [...indexParts(one).keys()]);

/**
 * Doubts new batches of which a message of another kind has brought a payment already, as an entry of its own: banks
 * announce payments one by one, and book them together.
 */
export const doubtBatches = (
  judged: readonly Judged[],
  candidates: readonly PaymentEntryRow[],
): readonly Judged[] =>
  judged.map((one) => {
    if (one.known !== undefined || one.verdict.as !== "new") return one;
    const parts = indexParts(one);
    if (parts.size === 0) return one;
    const like = candidates.find(
      ({ kind, currency, amount, bank_reference: reference }) =>
        kind !== one.facts.kind &&
        currency === one.facts.currency &&
        parts.get(reference ?? "")?.eq(amount) === true,
    );
    if (like === undefined) return one;
    const root = candidates.find(({ id }) => id === like.joined_to) ?? like;
    return { ...one, verdict: doubt(root.id, parsePaymentIds(root)[0] ?? root.id) };
  });
