import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Doubt } from "../target.ts";
import { isAdvice, parsePaymentIds } from "./entry-facts.ts";
import { isReturn } from "./joining.ts";
import type { Judged } from "./judged.ts";
import type { SaveNeeds } from "./save.ts";

export type Found = { judged: readonly Judged[]; candidates: readonly PaymentEntryRow[] };

/** The entries of an import batch and of the store, while payments are found in batches. */
export type Work = {
  tx: Db;
  needs: SaveNeeds;
  judged: Map<string, Judged>;
  rows: Map<string, PaymentEntryRow>;
  /** Ids of the entries of this file. */
  own: ReadonlySet<string>;
  /** Stored entries that change, as they were before. */
  before: Map<string, PaymentEntryRow>;
  /** Stored payments that are no longer doubtful. */
  cleared: string[];
  /** Doubts about stored payments, which are those of advices. */
  doubts: Doubt[];
};

export const isUndecided = ({ known, repeats, verdict }: Judged): boolean =>
  known === undefined &&
  repeats === undefined &&
  (verdict.as === "new" || verdict.as === "doubtful");

const isOpen = (one: Judged): boolean =>
  isUndecided(one) && one.facts.account !== null && !isAdvice(one.facts);

export const listOpen = ({ judged }: Work): Judged[] => [...judged.values()].filter(isOpen);

/** The advices of the file that are no returns, and about which nothing is decided yet. */
export const listOpenAdvices = ({ judged }: Work): Judged[] =>
  [...judged.values()].filter(
    (one) => isUndecided(one) && isAdvice(one.facts) && !isReturn(one.facts),
  );

export const change = ({ rows, before }: Work, after: PaymentEntryRow): void => {
  const stored = rows.get(after.id);
  if (stored !== undefined && !before.has(after.id)) before.set(after.id, stored);
  rows.set(after.id, after);
};

export const judge = ({ judged }: Work, one: Judged): void => void judged.set(one.facts.id, one);

/** The columns of an entry without a doubt. */
export const SETTLED = { doubt: null, doubt_of: null, doubt_payment_id: null } as const;

/** Removes the doubt of a stored entry, and records of which batch it is. */
export const settle = (work: Work, row: PaymentEntryRow, partOf: string | null): void => {
  if (row.doubt === "open") work.cleared.push(...parsePaymentIds(row));
  const open = row.doubt === "open" ? SETTLED : {};
  change(work, { ...row, ...open, part_of: partOf });
};
