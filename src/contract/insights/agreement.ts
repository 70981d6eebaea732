/** A value is proposed where at least so many cases agree, and at least so large a part of all cases. */
const LEAST_CASES = 5;
const LEAST_PART = 0.6;

/** A value, the cases that agree on it, and all cases. */
export type Agreement<V> = { value: V; cases: number; of: number };

/** Returns the value that enough cases agree on. Cases without a value are among all. */
export const findAgreement = <V>(
  counts: ReadonlyMap<V | null | undefined, number>,
): Agreement<V> | undefined => {
  let of = 0;
  for (const count of counts.values()) of += count;
  for (const [value, cases] of counts) {
    if (value === null || value === undefined) continue;
    if (cases >= LEAST_CASES && cases / of >= LEAST_PART) return { value, cases, of };
  }
  return undefined;
};
