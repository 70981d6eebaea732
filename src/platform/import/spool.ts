import { InexactNumber } from "../../kit/json.ts";
import type { BankItem } from "./bank/entry.ts";
import type { Warn } from "./bank/file.ts";
import { createSpillList } from "../store/engine/spill-list.ts";

type Warning = { place: string; warning: string };
type Kept = BankItem | Warning;

/** How JSON has an inexact number; in the text of a value, its quotes would be escaped. */
const INEXACT = '{"source":"';

/** Restores the numbers of remittance lines that a double would change, which JSON has as objects. */
const restoreNumbers = (item: BankItem): void => {
  if ("leftOut" in item) return;
  for (const { remittances } of item.payments) {
    for (const line of remittances) {
      const cells = line.cells as Record<string, unknown>;
      for (const name of Object.keys(cells)) {
        const value = cells[name];
        if (typeof value === "object" && value !== null)
          cells[name] = new InexactNumber((value as InexactNumber).source);
      }
    }
  }
};

/**
 * Keeps the items and warnings of a bank file in a temporary file, so that the pass that writes them need not read the
 * file again.
 */
export const createSpool = () => {
  const list = createSpillList();
  let isComplete = false;
  const keep = (kept: readonly Kept[]): void => {
    if (kept.length > 0) list.add(JSON.stringify(kept));
  };
  return {
    /** Whether the whole file is kept. */
    isComplete: (): boolean => isComplete,
    /** Passes the items of a file on, and keeps them; the warnings are kept only. */
    async *fill(
      read: (warn: Warn) => AsyncIterable<BankItem[]>,
    ): AsyncGenerator<BankItem[], void, undefined> {
      let warnings: Warning[] = [];
      for await (const items of read((place, warning) => warnings.push({ place, warning }))) {
        keep([...warnings, ...items]);
        warnings = [];
        yield items;
      }
      keep(warnings);
      isComplete = true;
    },
    /** Yields the items that are kept, and gives their warnings. */
    *replay(warn: Warn): Generator<BankItem[], void, undefined> {
      for (const text of list.read()) {
        const items: BankItem[] = [];
        for (const one of JSON.parse(text) as Kept[]) {
          if ("warning" in one) warn(one.place, one.warning);
          else items.push(one);
        }
        if (text.includes(INEXACT)) for (const item of items) restoreNumbers(item);
        yield items;
      }
    },
    close: (): void => list.close(),
  };
};

export type Spool = ReturnType<typeof createSpool>;
