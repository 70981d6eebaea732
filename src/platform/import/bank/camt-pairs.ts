import type { Left } from "./camt-entry.ts";
import { Big, formatDecimal } from "./decimal.ts";
import type { LeftOut } from "./entry.ts";

const MAX_WAITING = 10_000;

const merge = (first: LeftOut, second: LeftOut): LeftOut => {
  const [debit, credit] = first.leftOut.amount?.startsWith("-") ? [first, second] : [second, first];
  const amounts = [debit, credit].map(({ leftOut }) => new Big(leftOut.amount ?? "0"));
  const [debited = new Big(0), credited = new Big(0)] = amounts;
  const currency = credit.leftOut.currency ?? "";
  return {
    line: credit.line,
    leftOut: {
      type: credit.leftOut.type,
      reason: `${credit.leftOut.reason}, the debit of line ${debit.line}; both are left out`,
      amount: formatDecimal(credited.plus(debited), currency),
      currency,
      both: {
        credits: formatDecimal(credited, currency),
        debits: formatDecimal(debited.abs(), currency),
      },
    },
  };
};

/**
 * Joins a debit of the company with the credit of the same statement that gives it back, so that both are one record
 * that is left out. Records that no other one cancels are released in their order, so that few wait.
 */
export const createPairs = () => {
  const waiting = new Map<string, Left[]>();
  let count = 0;
  const release = (): LeftOut[] => {
    const [key, found] = waiting.entries().next().value ?? [];
    if (key === undefined || found === undefined) return [];
    waiting.delete(key);
    count -= found.length;
    return found.map(({ item }) => item);
  };
  return {
    add(left: Left): LeftOut[] {
      const { key, item, isGivenBack } = left;
      const isDebit = item.leftOut.amount?.startsWith("-") === true;
      if (key === undefined || (!isDebit && !isGivenBack)) return [item];
      const found = waiting.get(key);
      const at = found?.findIndex((one) => one.isGivenBack !== isGivenBack) ?? -1;
      const other = found?.[at];
      if (found !== undefined && other !== undefined) {
        found.splice(at, 1);
        count -= 1;
        if (found.length === 0) waiting.delete(key);
        return [merge(other.item, item)];
      }
      waiting.set(key, [...(found ?? []), left]);
      count += 1;
      return count > MAX_WAITING ? release() : [];
    },
    /** Releases all records at the end of a statement. */
    end(): LeftOut[] {
      const items = [...waiting.values()].flat().map(({ item }) => item);
      waiting.clear();
      count = 0;
      return items;
    },
  };
};
