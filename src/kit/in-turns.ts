import { setImmediate } from "node:timers/promises";
import { createLimitScan, type ExceededLimit, type JsonLimits, type JsonVisitor } from "./json.ts";

const ITEMS_PER_TURN = 1000;

/** Several requests may each do a piece of work in one turn of the event loop, so that a piece is short. */
const MS_PER_TURN = 4;
/** The items between two looks at the clock. */
const ITEMS_PER_LOOK = 32;

/** Calls a function with each item, and gives the event loop a turn after every so many, or after some milliseconds. */
export const forEachInTurns = async <T>(
  items: Iterable<T>,
  act: (item: T) => void,
  perTurn = ITEMS_PER_TURN,
): Promise<void> => {
  let [inTurn, sinceLook, began] = [0, 0, performance.now()];
  for (const item of items) {
    act(item);
    inTurn += 1;
    sinceLook += 1;
    const isLook = sinceLook === ITEMS_PER_LOOK;
    if (isLook) sinceLook = 0;
    if (inTurn < perTurn && !(isLook && performance.now() - began >= MS_PER_TURN)) continue;
    await setImmediate();
    inTurn = 0;
    began = performance.now();
  }
};

/** Returns the items that a condition selects, with turns of the event loop in between. */
export const filterInTurns = async <T>(
  items: Iterable<T>,
  holds: (item: T) => boolean,
): Promise<T[]> => {
  const selected: T[] = [];
  await forEachInTurns(items, (item) => {
    if (holds(item)) selected.push(item);
  });
  return selected;
};

/** Returns what a function makes of each item, with turns of the event loop in between as {@link forEachInTurns} has. */
export const mapInTurns = async <T, R>(
  items: Iterable<T>,
  make: (item: T, place: number) => R,
  perTurn = ITEMS_PER_TURN,
): Promise<R[]> => {
  const made: R[] = [];
  await forEachInTurns(items, (item) => void made.push(make(item, made.length)), perTurn);
  return made;
};

/** The characters of a long text that are checked, or parsed, in one turn of the event loop. */
export const CHARACTERS_PER_TURN = 131_072;

/** Returns the first limit that JSON text exceeds, as `findExceededLimit` does, with turns of the event loop in between. */
export const findExceededLimitInTurns = async (
  text: string,
  limits: JsonLimits,
  visitor?: JsonVisitor,
): Promise<ExceededLimit | undefined> => {
  const scan = createLimitScan(text, limits, visitor);
  for (let end = CHARACTERS_PER_TURN; ; end += CHARACTERS_PER_TURN) {
    const exceeded = scan(Math.min(end, text.length));
    if (exceeded !== undefined || end >= text.length) return exceeded;
    await setImmediate();
  }
};
