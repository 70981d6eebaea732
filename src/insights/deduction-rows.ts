import { MAX_LIST_ITEMS } from "../contract/payments/filter.ts";
import { SECOND } from "../kit/clock.ts";
import { DEDUCTION_FIELDS, type DeductionRow } from "./deduction-match.ts";
import type { InsightContext } from "./insight.ts";
import type { Row } from "./payment-measures.ts";
import { readPayments } from "./read-payments.ts";

const MOST_ROWS_PER_DOCUMENT = 100;

/** Reads the rows of documents, as many documents in a query as a filter can name. */
export const readDeductionRows = async (context: InsightContext, numbers: readonly string[]) => {
  const rows = new Map<string, DeductionRow[]>();
  const cut = new Set<string>();
  const notes: string[] = [];
  let left = context.limits.paymentRows;
  const take = (page: readonly Row[]): void => {
    for (const row of page as unknown as readonly DeductionRow[]) {
      const number = row.documentNumber ?? "";
      const own = rows.get(number) ?? [];
      if (own.length < MOST_ROWS_PER_DOCUMENT) own.push(row);
      else cut.add(number);
      rows.set(number, own);
    }
  };
  for (let from = 0; from < numbers.length; from += MAX_LIST_ITEMS) {
    if (context.now() >= context.endsAt) {
      notes.push(
        `Payments on ${numbers.length - from} documents were not read: reading took ${context.limits.ms / SECOND} seconds.`,
      );
      break;
    }
    const documentNumber = { in: numbers.slice(from, from + MAX_LIST_ITEMS) };
    const fields = [...DEDUCTION_FIELDS];
    const query = { source: "cashapp", fields, filters: { documentNumber } } as const;
    const limits = { ...context.limits, paymentRows: left };
    const { rowCount, stopped } = await readPayments({ ...context, limits }, query, take);
    left -= rowCount;
    if (stopped !== undefined) {
      notes.push(stopped);
      break;
    }
  }
  if (cut.size > 0) {
    notes.push(
      `Of ${cut.size} documents only the first ${MOST_ROWS_PER_DOCUMENT} payment rows were compared.`,
    );
  }
  return { rows, notes };
};
