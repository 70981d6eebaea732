import { contract } from "../contract/index.ts";
import type { ArgsOf } from "../contract/operation.ts";
import type { InsightContext } from "./insight.ts";
import type { Row } from "./payment-measures.ts";
import { type Reading, readByCursor } from "./read-pages.ts";

/** The values of a page: parsing and adding up 160,000 of them holds the event loop for up to 100 ms. */
const PAGE_VALUES = 16_000;
const MOST_PAGE_ROWS = 4000;
/** The values of a row of which no fields are named. */
const USUAL_FIELDS = 40;

export type PaymentQuery = Pick<
  ArgsOf<typeof contract.payments.query>,
  "source" | "fields" | "filters"
>;

/**
 * Reads all payment rows of a query in pages.
 *
 * @throws {Problem} the platform's refusal
 */
export const readPayments = (
  context: InsightContext,
  query: PaymentQuery,
  take: (rows: readonly Row[]) => void | Promise<void>,
): Promise<Reading> => {
  const maxRows = context.limits.paymentRows;
  const fields = query.fields?.length ?? USUAL_FIELDS;
  const limit = Math.min(Math.ceil(PAGE_VALUES / fields), MOST_PAGE_ROWS, maxRows);
  const load = (cursor: string | undefined) =>
    context.call(contract.payments.query, { ...query, limit, cursor });
  return readByCursor(context, load, { maxRows, noun: "payment rows", take });
};
