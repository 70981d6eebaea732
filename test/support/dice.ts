import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Seeded random values: the same seed gives the same sequence. */
export type Dice = {
  /** A whole number, both ends included. */
  whole(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** One of `[item, weight]`. */
  weigh<T>(items: readonly (readonly [T, number])[]): T;
};

export const createDice = (seed: number): Dice => {
  const source = xoroshiro128plus(seed);
  const share = (): number => uniformFloat64(source);
  return {
    whole: (from, to) => uniformInt(source, from, to),
    chance: (probability) => share() < probability,
    pick(items) {
      const item = items[Math.floor(share() * items.length)];
      if (item === undefined) throw new RangeError("pick() needs at least one item");
      return item;
    },
    weigh(items) {
      let left = share() * items.reduce((sum, [, weight]) => sum + weight, 0);
      const found = items.find(([, weight]) => (left -= weight) < 0);
      if (found === undefined) throw new RangeError("weigh() needs at least one weight above 0");
      return found[0];
    },
  };
};
