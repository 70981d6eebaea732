import Big from "big.js";
import { addToList } from "./groups.ts";

/** An amount of one document in one currency: what a payment left out, or what a dispute claims. */
export type Claimed = { documentNumber: string; currencyCode: string; amount: number };

/** The amounts of a document that are compared; the combinations of more would take too long. */
export const MOST_COMPARED = 60;

const DECIMALS = 6;

/** Returns an amount as a whole number of its smallest units, exactly. */
export const toUnits = (amount: number): bigint =>
  BigInt(new Big(amount).times(new Big(10).pow(DECIMALS)).toFixed(0));

const keyOf = ({ documentNumber, currencyCode }: Claimed): string =>
  `${currencyCode}\n${documentNumber}`;

type Part<T> = { value: T; units: bigint };

/** Finds two or three parts that add up to an amount; the first ones in their order. */
export const findParts = <T>(parts: readonly Part<T>[], total: bigint): Part<T>[] | undefined => {
  const byUnits = new Map(parts.map((part, place) => [part.units, place]));
  for (const [first, one] of parts.entries()) {
    const second = byUnits.get(total - one.units);
    if (second !== undefined && second > first) return [one, parts[second] as Part<T>];
  }
  for (const [first, one] of parts.entries()) {
    for (let second = first + 1; second < parts.length; second += 1) {
      const two = parts[second] as Part<T>;
      const third = byUnits.get(total - one.units - two.units);
      if (third !== undefined && third > second) return [one, two, parts[third] as Part<T>];
    }
  }
  return undefined;
};

/** Takes what each of `wholes` is the sum of out of `parts`. Both lists lose what they have in common. */
const takeSums = <W, P>(
  wholes: Part<W>[],
  parts: Part<P>[],
  found: (whole: W, parts: readonly P[]) => void,
): void => {
  for (const whole of wholes.slice()) {
    const sum = findParts(parts, whole.units);
    if (sum === undefined) continue;
    wholes.splice(wholes.indexOf(whole), 1);
    for (const part of sum) parts.splice(parts.indexOf(part), 1);
    found(
      whole.value,
      sum.map(({ value }) => value),
    );
  }
};

/** Pairs parts of equal amounts, and returns those that are left of both lists. */
const takeEqual = <D, C>(
  deductions: readonly Part<D>[],
  disputes: readonly Part<C>[],
  found: (deduction: D, dispute: C) => void,
): { left: Part<D>[]; free: Part<C>[] } => {
  const byUnits = Map.groupBy(disputes, ({ units }) => units);
  const left = deductions.filter(({ value, units }) => {
    const dispute = byUnits.get(units)?.shift();
    if (dispute === undefined) return true;
    found(value, dispute.value);
    return false;
  });
  return { left, free: [...byUnits.values()].flat() };
};

const toParts = <T extends Claimed>(values: readonly T[]): Part<T>[] =>
  values.map((value) => ({ value, units: toUnits(value.amount) }));

export type Explained<D, C> = { deduction: D; disputes: readonly C[] };

/** Adds a value to the list of its document. */
export const addToDocument = <T extends Claimed>(documents: Map<string, T[]>, value: T): void =>
  addToList(documents, keyOf(value), value);

/**
 * Assigns disputes to the deductions of their document. A dispute explains a deduction of its amount, else two or three
 * that add up to it; two or three disputes explain a deduction that is their sum. Each dispute explains once.
 */
export const explainDocument = <D extends Claimed, C extends Claimed>(
  deductions: readonly D[],
  disputes: readonly C[],
): { explained: Explained<D, C>[]; unexplained: D[]; isCut: boolean } => {
  const explained: Explained<D, C>[] = [];
  const { left, free } = takeEqual(toParts(deductions), toParts(disputes), (deduction, dispute) => {
    explained.push({ deduction, disputes: [dispute] });
  });
  const isCut = left.length > MOST_COMPARED || free.length > MOST_COMPARED;
  free.splice(MOST_COMPARED);
  const compared = left.splice(0, MOST_COMPARED);
  takeSums(free, compared, (dispute, parts) => {
    for (const deduction of parts) explained.push({ deduction, disputes: [dispute] });
  });
  takeSums(compared, free, (deduction, parts) => {
    explained.push({ deduction, disputes: parts });
  });
  return { explained, unexplained: [...compared, ...left].map(({ value }) => value), isCut };
};

/** Returns the disputes on the document and in the currency of deductions. */
export const claimsOn = <C extends Claimed>(
  documents: ReadonlyMap<string, readonly C[]>,
  [deduction]: readonly Claimed[],
): readonly C[] => (deduction === undefined ? [] : (documents.get(keyOf(deduction)) ?? []));
