import type { BankItem, LeftOut } from "./entry.ts";
import type { Warn } from "./file.ts";

// BAI2 2005, Appendix A: items in lockbox, ACH and preauthorized (PAC) deposits, by the types of the deposits.
const ITEM_OF: ReadonlyMap<string, string> = new Map([
  ["116", "115"],
  ["143", "142"],
  ["156", "155"],
]);
const DEPOSITS: ReadonlySet<string> = new Set(ITEM_OF.values());

/** A transaction, and what it is if the items that follow it are its parts. */
type Transaction = { type: string; digits: bigint; item: BankItem; divided: LeftOut };

/**
 * Holds a deposit until the items of it that a bank lists behind it are known. If they add up to the deposit, they are
 * the payments, and the deposit is left out; `divide` receives its amount.
 */
export const createDeposits = (warn: Warn, divide: (digits: bigint) => void) => {
  let open: Transaction | undefined;
  let items: BankItem[] = [];
  let sum = 0n;
  /** Returns the deposit and its items, after which something else follows. */
  const release = (): BankItem[] => {
    if (open === undefined) return [];
    const { digits, item, divided } = open;
    const isDivided = items.length > 0 && sum === digits;
    if (isDivided) divide(digits);
    else if (items.length > 0) {
      const message = `begins a deposit whose ${items.length} items do not add up to it; all of them count`;
      warn(`line ${item.line}`, message);
    }
    const released = [isDivided ? divided : item, ...items];
    open = undefined;
    items = [];
    sum = 0n;
    return released;
  };
  return {
    release,
    add(transaction: Transaction): BankItem[] {
      const { type, digits, item } = transaction;
      const isTaken = !("leftOut" in item);
      if (isTaken && open !== undefined && ITEM_OF.get(type) === open.type) {
        items.push(item);
        sum += digits;
        return [];
      }
      const before = release();
      if (!isTaken || !DEPOSITS.has(type)) return [...before, item];
      open = transaction;
      return before;
    },
  };
};
