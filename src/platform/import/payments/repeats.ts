import { createSpillMap } from "../../store/engine/spill-map.ts";

/** The number of an entry among the equal ones of its file, and that of the entry that it repeats. */
export type Place = { number: number; repeats?: number };

/**
 * Numbers the equal entries of a file. Within a message, equal entries follow each other; where their places begin
 * again, the file has the message twice, for instance a page that was added two times.
 */
export const createEqualEntries = () => {
  const met = createSpillMap();
  return {
    number(facts: string, place: number): Place {
      const known = met.get(facts);
      if (known === undefined) {
        met.set(facts, `1 ${place} 0`);
        return { number: 1 };
      }
      const [count = 0, last = 0, size = 0] = known.split(" ").map(Number);
      const ofFirst = size === 0 && place <= last ? count : size;
      met.set(facts, `${count + 1} ${place} ${ofFirst}`);
      const number = count + 1;
      return ofFirst === 0 ? { number } : { number, repeats: (count % ofFirst) + 1 };
    },
    close: met.close,
  };
};
