import Big from "big.js";
import { openTemporary } from "./temporary.ts";

/** The sums of a file's amounts by key. Sums that do not fit in memory go to a temporary file. */
export type Sums = {
  /** Adds an amount; undefined for one that is no number. */
  add(key: string, amount: unknown): void;
  /** Returns the sum of the amounts of a key, exactly. */
  find(key: string): number | undefined;
  close(): void;
};

/** Creates an empty collection of sums. */
export const createSums = (): Sums => {
  const database = openTemporary("sums (key text primary key, amount text not null) without rowid");
  const read = database.prepare("select amount from sums where key = ?");
  const write = database.prepare("insert or replace into sums values (?, ?)");
  const findText = (key: string): string | undefined => {
    const amount = read.get(key)?.["amount"];
    return typeof amount === "string" ? amount : undefined;
  };
  return {
    add(key, amount) {
      if (typeof amount !== "number") return;
      write.run(key, new Big(findText(key) ?? 0).plus(amount).toFixed());
    },
    find(key) {
      const text = findText(key);
      return text === undefined ? undefined : Number(text);
    },
    close: () => database.close(),
  };
};
