import { setImmediate } from "node:timers/promises";

const ITEMS_PER_TURN = 1000;

/** Calls a function with each item, and gives the event loop a turn after every so many. */
export const forEachInTurns = async <T>(
  items: Iterable<T>,
  act: (item: T) => void,
  perTurn = ITEMS_PER_TURN,
): Promise<void> => {
  let done = 0;
  for (const item of items) {
    act(item);
    done += 1;
    if (done % perTurn === 0) await setImmediate();
  }
};

/** Returns what a function makes of each item, and gives the event loop a turn after every so many. */
export const mapInTurns = async <T, R>(
  items: Iterable<T>,
  make: (item: T, place: number) => R,
  perTurn = ITEMS_PER_TURN,
): Promise<R[]> => {
  const made: R[] = [];
  await forEachInTurns(items, (item) => void made.push(make(item, made.length)), perTurn);
  return made;
};
