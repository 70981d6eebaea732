import { type RawBuilder, sql } from "kysely";
import type { DecimalSums } from "../engine/dialect.ts";

// SQLite adds up whole numbers exactly and fails where 63 bits do not hold the sum. Two parts leave room for a
// hundred million rows of the largest amount: ten thousands, and the rest in millionths.
const MILLIONTHS = 1_000_000;
const MILLIONTHS_PER_PART = 10_000 * MILLIONTHS;
const DECIMALS = 6;

// Above, the noise of a double reaches the sixth decimal, and 15 digits leave fewer decimals anyway.
const SMALL = 1_000_000_000;
const DIGITS = 15;

const countTenThousands = (amount: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`cast(${amount} / 1e4 as integer)`;

export const decimalSums: DecimalSums = {
  split(amount) {
    const rest = sql`(${amount} - ${countTenThousands(amount)} * 1e4)`;
    const decimals = sql`${sql.lit(DIGITS)} - length(cast(abs(${amount}) as integer))`;
    const millionths = sql`cast(round(case when abs(${amount}) < ${sql.lit(SMALL)} then ${rest}
      else round(${rest}, ${decimals}) end * ${sql.lit(MILLIONTHS)}) as integer)`;
    return [countTenThousands(amount), millionths];
  },
  order: ([large, small]) =>
    sql`(${large ?? sql`0`} * ${sql.lit(MILLIONTHS_PER_PART)} + ${small ?? sql`0`})`,
  text: (sums) =>
    sql`${sql.join(
      sums.map((sum) => sql`cast(${sum} as text)`),
      sql` || ' ' || `,
    )}`,
  parse(text) {
    const [large = "0", small = "0"] = text.split(" ");
    const total = BigInt(large) * BigInt(MILLIONTHS_PER_PART) + BigInt(small);
    const digits = String(total < 0n ? -total : total).padStart(DECIMALS + 1, "0");
    return `${total < 0n ? "-" : ""}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
  },
};
