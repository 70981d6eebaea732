import { IngestNumber } from "../../../contract/ingest-fields.ts";
import type { Fault } from "../../../contract/errors.ts";
import { isRecord } from "../../../kit/json.ts";

/** Maximum number of ancestors of an account. */
export const MAX_PARENT_DEPTH = 32;
/** Maximum number of accounts below one that gets another parent, since all of them are read. */
export const MAX_DESCENDANTS = 10_000;

const fault = (code: string, message: string): Fault[] => [
  { field: "parent_account_number", code, message },
];

const cycle = () => fault("cycle", "must not lead back to the account");
const tooDeep = () =>
  fault("depth", `must not make a chain of more than ${MAX_PARENT_DEPTH} parents`);
const tooMany = () =>
  fault("too_many", `must not change while over ${MAX_DESCENDANTS} accounts are below the account`);

/** The stored accounts above and below one. */
export type Lineage = {
  /** The account's parent before the write. */
  current: string | null | undefined;
  parentOf(accountNumber: string): Promise<string | null | undefined>;
  /** The children of several accounts, `limit` at most. */
  childrenOf(accountNumbers: readonly string[], limit: number): Promise<string[]>;
};

/** Checks that there are at most so many levels below an account. */
const checkBelow = async (
  accountNumber: string,
  levels: number,
  { childrenOf }: Lineage,
): Promise<Fault[]> => {
  let level = [accountNumber];
  let count = 0;
  for (let depth = 0; ; depth += 1) {
    level = await childrenOf(level, MAX_DESCENDANTS + 1 - count);
    if (level.length === 0) return [];
    if (depth === levels) return tooDeep();
    count += level.length;
    if (count > MAX_DESCENDANTS) return tooMany();
  }
};

/**
 * Checks the parent of an unchecked body. Refuses a parent that leads back to the account, and one with which a chain of
 * accounts, from the highest above the account to the lowest below it, has more than {@link MAX_PARENT_DEPTH} parents.
 */
export const parentChainFaults = async (
  sent: unknown,
  accountNumber: string,
  lineage: Lineage,
): Promise<Fault[]> => {
  const parent = IngestNumber.safeParse(isRecord(sent) ? sent["parent_account_number"] : undefined);
  let ancestor: string | null | undefined = parent.data;
  let above = 0;
  for (; ancestor != null && above <= MAX_PARENT_DEPTH; above += 1) {
    if (ancestor === accountNumber) return cycle();
    ancestor = await lineage.parentOf(ancestor);
  }
  if (ancestor === accountNumber) return cycle();
  if (above > MAX_PARENT_DEPTH) return tooDeep();
  if (above === 0 || parent.data === lineage.current) return [];
  return checkBelow(accountNumber, MAX_PARENT_DEPTH - above, lineage);
};
