import type { Reply } from "../../client/port.ts";
import type { Problem } from "../../contract/errors.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import type { CallerContext } from "../caller.ts";
import {
  cost,
  createBasket,
  fairShares,
  type Fields,
  sanitizeWithin,
  truncateToBudget,
} from "../results/budget.ts";
import { type Paging, type Place, type Position, readList } from "../results/pages.ts";
import { badCursor } from "../results/refusal.ts";

/** Upper limit of the tokens for the JSON around a part. */
export const MARGIN_TOKENS = 60;

/** Records that belong to another one. */
export type Part = {
  items: Fields[];
  total: number | null;
  /** The position of each item, then the position after the last one: null at the end of the list. */
  positions: (Position | null)[];
};

/** Reads a part from a position; `budget` in tokens. */
export type ReadPart = (budget: number, from: Position | null) => Promise<Part>;

type Source = {
  operation: Operation;
  args: CallArguments;
  ask: (args: CallArguments) => Promise<Reply>;
};

/** Returns the reader of a part that an operation lists. */
export const partOf =
  ({ now }: Pick<CallerContext, "now">, { operation, args, ask }: Source): ReadPart =>
  async (budget, from) => {
    const { items, total, places, position } = await readList(operation, args, ask, {
      from,
      budget,
      now,
    });
    return { items, total, positions: [...places, position] };
  };

/** Returns the reader of a part that another record has as a field. */
export const partOfRecord =
  (list: () => Promise<unknown>): ReadPart =>
  async (budget, from) => {
    const all = await list();
    const items = Array.isArray(all) ? (all as Fields[]) : [];
    const basket = createBasket(budget);
    const first = from?.offset ?? 0;
    for (const item of items.slice(first)) if (!basket.add(item)) break;
    const positions = Array.from({ length: basket.items.length + 1 }, (_, index) =>
      first + index < items.length ? { page: 1, offset: first + index, after: null } : null,
    );
    return { items: basket.items, total: items.length, positions };
  };

/** Returns what an answer says about the rest of a part. */
export const describeRest = (
  paging: Paging,
  part: string,
  position: Position | null,
): { truncated: boolean; nextCursor?: string } =>
  position === null
    ? { truncated: false }
    : { truncated: true, nextCursor: paging.seal({ part, position }) };

/**
 * Returns a part with as many of its records as fit into a number of tokens, each whole, and the cursor of the next one.
 * If not even the first one fits, there are none: the page of the cursor begins with it and has more room.
 */
const showPart = (
  paging: Paging,
  name: string,
  { items, total, positions }: Part,
  tokens: number,
): Fields => {
  const show = (count: number): Fields => ({
    items: items.slice(0, count),
    total,
    ...describeRest(paging, name, positions[count] ?? null),
  });
  const whole = sanitizeWithin(show(items.length), tokens);
  if (whole !== undefined) return whole;
  let left = tokens - cost(show(0));
  const kept = items.findIndex((item) => {
    left -= cost(item) + 1;
    return left < 0;
  });
  return show(kept === -1 ? items.length : kept);
};

/** A record and its lists. */
type Whole = {
  /** Reads the record, under its name in the resource; absent for lists alone. */
  record?: { name: string; read: () => Promise<Fields> };
  lists: Readonly<Record<string, ReadPart>>;
  /** Lists among the record's own fields: they become parts if the record is too large. */
  ownLists?: readonly string[];
};

const omit = (record: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

export const otherList = (): Problem => badCursor("The cursor belongs to another list.");

/** Reads the page of a cursor: of one list, as much as an answer has room for. */
const readPage = async (
  lists: Whole["lists"],
  { part, position }: Place,
  paging: Paging,
  budget: number,
): Promise<Fields> => {
  const read = Object.hasOwn(lists, part) ? lists[part] : undefined;
  if (read === undefined) throw otherList();
  const end = cost(paging.seal({ part, position })) + MARGIN_TOKENS;
  const page = await read(budget - end, position);
  const rest = describeRest(paging, part, page.positions.at(-1) ?? null);
  return { [part]: { items: page.items, total: page.total, ...rest } };
};

/** Reads lists concurrently; the answer's budget is shared, and unused shares go to larger lists. */
const readLists = async (
  lists: Whole["lists"],
  paging: Paging,
  budget: number,
): Promise<Fields> => {
  const left = budget - MARGIN_TOKENS * Object.keys(lists).length;
  const parts = await Promise.all(
    Object.entries(lists).map(async ([name, read]) => ({ name, part: await read(left, null) })),
  );
  const costs = parts.map(({ name, part }) => cost(showPart(paging, name, part, Infinity)));
  const shares = fairShares(costs, left);
  return Object.fromEntries(
    parts.map(({ name, part }, index) => [name, showPart(paging, name, part, shares[index] ?? 0)]),
  );
};

/**
 * Reads a record with its lists within the budget of an answer: the record has half of it, its lists share the rest. With
 * a cursor it reads the next page of one list alone.
 *
 * @throws {Problem} of the operations; invalid_parameter for a cursor of another resource
 */
export const readWhole = async (
  { settings }: Pick<CallerContext, "settings">,
  paging: Paging,
  { record, lists, ownLists = [] }: Whole,
): Promise<Fields> => {
  const budget = settings.answerTokens - MARGIN_TOKENS;
  const own = Object.fromEntries(
    ownLists.map((name) => [name, partOfRecord(async () => (await record?.read())?.[name])]),
  );
  if (paging.from !== null) return readPage({ ...lists, ...own }, paging.from, paging, budget);
  if (record === undefined) return readLists(lists, paging, budget);
  const half = Math.floor(budget / 2);
  const source = await record.read();
  const whole = truncateToBudget(source, half);
  const shown = whole.cut ? truncateToBudget(omit(source, ownLists), half).record : whole.record;
  const present = Object.entries(own).filter(([name]) => Array.isArray(source[name]));
  const all = whole.cut ? { ...lists, ...Object.fromEntries(present) } : lists;
  const rest = budget - cost(shown) - MARGIN_TOKENS;
  return { [record.name]: shown, ...(await readLists(all, paging, rest)) };
};
