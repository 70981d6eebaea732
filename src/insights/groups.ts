import { setImmediate } from "node:timers/promises";

/** A value by which records are grouped; null where a record has none. */
export type KeyValue = string | number | boolean | null;

/** Numbers combinations of values from 0, in the order of their first occurrence. */
export type KeyIndex = {
  readonly size: number;
  /** Returns the number of a combination. */
  find(values: readonly KeyValue[]): number;
  /** Returns one value of a numbered combination. */
  valueAt(level: number, group: number): KeyValue;
};

type Node = Map<KeyValue, Node | number>;

const childOf = (node: Node, value: KeyValue): Node => {
  const known = node.get(value);
  if (known instanceof Map) return known;
  const made: Node = new Map();
  node.set(value, made);
  return made;
};

/** Creates an index of combinations of `levels` values. Maps are nested, so that no text is built for each record. */
export const createKeyIndex = (levels: number): KeyIndex => {
  const root: Node = new Map();
  const columns: KeyValue[][] = Array.from({ length: levels }, () => []);
  let size = 0;
  return {
    get size() {
      return size;
    },
    find(values) {
      let node = root;
      for (let level = 0; level < levels - 1; level += 1)
        node = childOf(node, values[level] ?? null);
      const last = values[levels - 1] ?? null;
      const known = node.get(last);
      if (typeof known === "number") return known;
      node.set(last, size);
      for (const [level, column] of columns.entries()) column.push(values[level] ?? null);
      size += 1;
      return size - 1;
    },
    valueAt: (level, group) => columns[level]?.[group] ?? null,
  };
};

/** Adds a value to the list of its key. */
export const addToList = <K, T>(lists: Map<K, T[]>, key: K, value: T): void => {
  const own = lists.get(key);
  if (own === undefined) lists.set(key, [value]);
  else own.push(value);
};

/** Numbers values from 0, in the order of their first occurrence. */
export const createNumbering = (): ((value: unknown) => number) => {
  const numbers = new Map<unknown, number>();
  return (value) => {
    const known = numbers.get(value);
    if (known !== undefined) return known;
    numbers.set(value, numbers.size);
    return numbers.size - 1;
  };
};

/** The distinct members of each group. Each pair of a member and a group has a slot, numbered from 0. */
export type Membership = {
  readonly size: number;
  /** Returns the slot of a pair of numbers; it is new if it equals the size before. */
  slotOf(member: number, group: number): number;
  /** Returns the number of distinct members of a group. */
  count(group: number): number;
  /** The number of members that belong to more than one group. */
  readonly shared: number;
};

/** More than the groups that are possible within the limits on reading. */
const MAX_GROUPS = 2 ** 26;
const NONE = -1;

/** Creates a membership. The first group of a member costs two array elements, and only further groups a map entry. */
export const createMembership = (): Membership => {
  const firstGroups: number[] = [];
  const firstSlots: number[] = [];
  const further = new Map<number, number>();
  const inSeveral = new Set<number>();
  const counts: number[] = [];
  let size = 0;

  const addSlot = (group: number): number => {
    while (counts.length <= group) counts.push(0);
    counts[group] = (counts[group] ?? 0) + 1;
    size += 1;
    return size - 1;
  };

  const addFurther = (member: number, group: number): number => {
    const pair = member * MAX_GROUPS + group;
    const known = further.get(pair);
    if (known !== undefined) return known;
    inSeveral.add(member);
    const slot = addSlot(group);
    further.set(pair, slot);
    return slot;
  };

  return {
    get size() {
      return size;
    },
    get shared() {
      return inSeveral.size;
    },
    count: (group) => counts[group] ?? 0,
    slotOf(member, group) {
      while (firstGroups.length <= member) {
        firstGroups.push(NONE);
        firstSlots.push(NONE);
      }
      const first = firstGroups[member];
      if (first === group) return firstSlots[member] ?? NONE;
      if (first !== NONE) return addFurther(member, group);
      const slot = addSlot(group);
      firstGroups[member] = group;
      firstSlots[member] = slot;
      return slot;
    },
  };
};

/** Compares values of one key; numbers by size, texts by code unit, null last. */
export const compareValues = (a: KeyValue, b: KeyValue): number => {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
};

export type Compare = (a: number, b: number) => number;

/** Compares groups by one value of their keys; groups without it come last in both directions. */
export const byLevel =
  ({ valueAt }: KeyIndex, level: number, descending = false): Compare =>
  (a, b) => {
    const [left, right] = [valueAt(level, a), valueAt(level, b)];
    if (left === null || right === null) return compareValues(left, right);
    return descending ? compareValues(right, left) : compareValues(left, right);
  };

/** Compares groups by a figure; groups without it come last in both directions. */
export const byFigure =
  (
    { compare, isEmpty }: { compare: Compare; isEmpty: (group: number) => boolean },
    descending: boolean,
  ): Compare =>
  (a, b) => {
    if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
    return descending ? compare(b, a) : compare(a, b);
  };

/** Compares groups by a number that each of them has. */
export const byNumber =
  (numberOf: (group: number) => number, descending: boolean): Compare =>
  (a, b) =>
    descending ? numberOf(b) - numberOf(a) : numberOf(a) - numberOf(b);

/** Compares by each in turn, and last by all values of the keys. */
export const inTurn = (index: KeyIndex, levels: number, compares: readonly Compare[]): Compare => {
  const [currency, ...keys] = Array.from({ length: levels }, (_, level) => byLevel(index, level));
  const all = [...compares, ...keys, ...(currency === undefined ? [] : [currency])];
  return (a, b) => {
    for (const compare of all) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
};

const STEPS_PER_TURN = 4000;

/** Returns where a number belongs in an ordered list. */
const findPlace = (ordered: readonly number[], number: number, compare: Compare): number => {
  let [from, to] = [0, ordered.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(number, ordered[middle] ?? 0) < 0) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** Merges two ordered lists, and gives the event loop a turn now and then. */
const mergeInTurns = async (
  left: readonly number[],
  right: readonly number[],
  compare: Compare,
): Promise<number[]> => {
  const merged: number[] = [];
  let [at, beside] = [0, 0];
  while (at < left.length || beside < right.length) {
    const [one, other] = [left[at], right[beside]];
    const isOther = one === undefined || (other !== undefined && compare(other, one) < 0);
    merged.push((isOther ? other : one) ?? 0);
    if (isOther) beside += 1;
    else at += 1;
    if (merged.length % STEPS_PER_TURN === 0) await setImmediate();
  }
  return merged;
};

/** A list of this length is sorted at once. */
const SORTED_AT_ONCE = 1000;

/** Orders the numbers from one up to another, and gives the event loop a turn after each part. */
const sortInTurns = async (from: number, to: number, compare: Compare): Promise<number[]> => {
  if (to - from <= SORTED_AT_ONCE) {
    await setImmediate();
    return Array.from({ length: to - from }, (_, place) => from + place).toSorted(compare);
  }
  const middle = (from + to) >> 1;
  const left = await sortInTurns(from, middle, compare);
  const right = await sortInTurns(middle, to, compare);
  return mergeInTurns(left, right, compare);
};

/** A part of an ordered list: at most `limit` items from `offset` on. */
export type Page = { limit: number; offset?: number };

/**
 * Returns the first `limit` of the numbers from 0 to `size`, by a comparison that is never 0. It gives the event loop a
 * turn now and then, which a sort of all of them would not.
 */
const selectFirst = async (
  size: number,
  limit: number,
  compare: (a: number, b: number) => number,
): Promise<number[]> => {
  if (limit > SORTED_AT_ONCE) return (await sortInTurns(0, size, compare)).slice(0, limit);
  const first: number[] = [];
  for (let number = 0; number < size; number += 1) {
    // Lets requests take their turn.
    if (number % STEPS_PER_TURN === STEPS_PER_TURN - 1) await setImmediate();
    const last = first[limit - 1];
    if (last !== undefined && compare(number, last) >= 0) continue;
    first.splice(findPlace(first, number, compare), 0, number);
    if (first.length > limit) first.pop();
  }
  return first;
};

/** Returns a page of the numbers from 0 to `size`, by a comparison that is never 0. */
export const selectPage = async (
  size: number,
  { limit, offset = 0 }: Page,
  compare: Compare,
): Promise<number[]> => (await selectFirst(size, offset + limit, compare)).slice(offset);

/** Returns a page of items, by a comparison that is never 0. */
export const selectItemsOf = async <T>(
  items: readonly T[],
  page: Page,
  compare: (a: T, b: T) => number,
): Promise<T[]> => {
  const compareAt: Compare = (a, b) => compare(items[a] as T, items[b] as T);
  const chosen = await selectPage(items.length, page, compareAt);
  return chosen.map((place) => items[place] as T);
};
