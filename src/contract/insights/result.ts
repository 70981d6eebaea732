import { z } from "zod";

/** An exact sum: a number, or decimal text if a number cannot hold all its digits. */
export const ExactNumber = z.union([z.number(), z.string()]);
export type ExactNumber = z.infer<typeof ExactNumber>;

const MAX_NUMBER_DIGITS = 15;

/** Converts decimal text to an exact number of a result; longer ones stay text. */
export const toExactNumber = (decimal: string): ExactNumber => {
  const digits = decimal.replace(/^-?0*\.?0*/, "").replace(".", "");
  return digits.length <= MAX_NUMBER_DIGITS ? Number(decimal) : decimal;
};

/** Records and their amount in one currency; null is for records without a currency. */
export const CurrencyTotal = z.object({
  currencyCode: z.string().nullable(),
  count: z.int(),
  amount: ExactNumber,
});
export type CurrencyTotal = z.infer<typeof CurrencyTotal>;

/** Creates the result of an insight; what qualifies the figures stands before the items. */
export const insightResult = <I extends z.ZodType, E extends z.ZodRawShape>(item: I, extra: E) =>
  z.object({
    asOf: z.string().meta({ description: "when the data was read, or the day asked for" }),
    filter: z.record(z.string(), z.unknown()).meta({ description: "conditions as applied" }),
    rowCount: z.int().meta({ description: "records that matched" }),
    truncated: z.boolean().meta({ description: "true: not every matching record was read" }),
    currencyTotals: z.array(CurrencyTotal),
    itemsTotal: z.int().meta({ description: "number of items without the limit" }),
    notes: z.array(z.string()).meta({ description: "what limits the answer" }),
    ...extra,
    items: z.array(item),
  });

/** The values of an item's groupings; null where the records have none. */
export const GroupKey = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()]).nullable(),
);
export type GroupKey = z.infer<typeof GroupKey>;

/** The name of the account in an item's key, if it has one. */
export const AccountName = z.string().optional();
