import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Chance that repeats itself: the same seed, the same throws. */
export type Dice = {
  /** From 0 up to 1. */
  share(): number;
  /** A whole number, both ends included. */
  whole(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** One of `[item, weight]`. */
  weigh<T>(items: readonly (readonly [T, number])[]): T;
  /** The same for many throws with one set of weights. */
  among<T>(items: readonly (readonly [T, number])[]): () => T;
  shuffle<T>(items: readonly T[]): T[];
  /** Around `median`, with a long upper tail that `spread` stretches. */
  longTail(median: number, spread: number): number;
  /** A UUID v4. */
  id(): string;
};

const hex = (value: number): string => value.toString(16).padStart(8, "0");

const uuid = (word: () => number): string => {
  const text = `${hex(word())}${hex(word())}${hex(word())}${hex(word())}`;
  const variant = "89ab".charAt(Number.parseInt(text.charAt(16), 16) % 4);
  return [
    text.slice(0, 8),
    text.slice(8, 12),
    `4${text.slice(13, 16)}`,
    `${variant}${text.slice(17, 20)}`,
    text.slice(20),
  ].join("-");
};

export const createDice = (seed: number): Dice => {
  const source = xoroshiro128plus(seed);
  const whole = (from: number, to: number): number => uniformInt(source, from, to);
  const share = (): number => uniformFloat64(source);

  // One throw whatever the length, so that a longer list does not move all that follows.
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(share() * items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  };

  const among = <T>(items: readonly (readonly [T, number])[]) => {
    let sum = 0;
    const bounds = items.map(([, weight]) => (sum += weight));
    return (): T => {
      const at = share() * sum;
      let [low, high] = [0, bounds.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((bounds[middle] ?? 0) > at) high = middle;
        else low = middle + 1;
      }
      const found = items[low];
      if (found === undefined) throw new RangeError("nothing to weigh");
      return found[0];
    };
  };

  return {
    share,
    whole,
    pick,
    among,
    weigh: (items) => among(items)(),
    chance: (probability) => share() < probability,
    shuffle: (items) =>
      items
        .map((item) => ({ item, order: share() }))
        .toSorted((one, other) => one.order - other.order)
        .map(({ item }) => item),
    // Box-Muller, so that ten times the median is rare and never impossible.
    longTail(median, spread) {
      const normal = Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share());
      return median * Math.exp(normal * spread);
    },
    id: () => uuid(() => whole(0, 0xffff_ffff)),
  };
};
