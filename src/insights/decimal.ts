import Big from "big.js";
import { type ExactNumber, toExactNumber } from "../contract/insights/result.ts";

const SCALE = 1e6;
const AVERAGE_DECIMALS = 6;

/** Exact sums of decimals, one per group; groups are numbered from 0. */
export type Sums = {
  add(group: number, value: number): void;
  total(group: number): Big;
  compare(a: number, b: number): number;
};

/** Returns the value in millionths, or undefined if a double cannot hold them exactly. */
const toMillionths = (value: number): number | undefined => {
  const scaled = Math.round(value * SCALE);
  return Number.isSafeInteger(scaled) && scaled / SCALE === value ? scaled : undefined;
};

/**
 * Creates exact sums of decimals, each given as the double nearest to it. They are counted in millionths while those fit
 * into a double, because that is many times faster than decimals of any length, which take the rest.
 */
export const createSums = (): Sums => {
  const millionths: number[] = [];
  const rest = new Map<number, Big>();

  const addToRest = (group: number, value: Big): void => {
    rest.set(group, (rest.get(group) ?? new Big(0)).plus(value));
  };

  const total = (group: number): Big =>
    new Big(millionths[group] ?? 0).div(SCALE).plus(rest.get(group) ?? 0);

  return {
    add(group, value) {
      while (millionths.length <= group) millionths.push(0);
      const scaled = toMillionths(value);
      if (scaled === undefined) return addToRest(group, new Big(value));
      const before = millionths[group] ?? 0;
      const after = before + scaled;
      if (Number.isSafeInteger(after)) {
        millionths[group] = after;
        return undefined;
      }
      addToRest(group, new Big(before).div(SCALE));
      millionths[group] = scaled;
      return undefined;
    },
    total,
    compare: (a, b) =>
      rest.has(a) || rest.has(b)
        ? total(a).cmp(total(b))
        : (millionths[a] ?? 0) - (millionths[b] ?? 0),
  };
};

/** Returns a sum in the form of a result. */
export const formatTotal = (total: Big): ExactNumber => toExactNumber(total.toFixed());

/** Returns the average, rounded half away from zero to at most 6 decimals; null of nothing. */
export const formatAverage = (total: Big, count: number): ExactNumber | null =>
  count === 0 ? null : toExactNumber(total.div(count).round(AVERAGE_DECIMALS).toFixed());

/** Returns a ratio of whole numbers, rounded half up to one decimal; null of nothing. */
export const formatTenths = (total: number, count: number): number | null =>
  count === 0 ? null : Number(new Big(total).div(count).toFixed(1, Big.roundHalfUp));
