import { type RawBuilder, sql } from "kysely";
import type { DecimalSums } from "../engine/dialect.ts";

// Below, a double of 15 digits times a million is closer to the right whole number than to any other.
const SMALL = 1_000_000_000;
const MILLION = 1_000_000;

const total = ([small, large]: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql`coalesce(${small} * 0.000001 + ${large}, ${small} * 0.000001, ${large})`;

export const decimalSums: DecimalSums = {
  // Millionths as whole numbers, which are added up fast, and large amounts as numeric.
  split(amount) {
    const isSmall = sql`abs(${amount}) < ${sql.lit(SMALL)}`;
    return [
      sql`cast(case when ${isSmall} then ${amount} * ${sql.lit(MILLION)} end as bigint)`,
      // Conversion to numeric keeps the 15 digits that an amount has at most.
      sql`case when not ${isSmall} then round(cast(${amount} as numeric), 6) end`,
    ];
  },
  order: (sums) => sql`${total(sums)}`,
  text: (sums) => sql`cast(${total(sums)} as text)`,
  parse: (text) => text,
};
