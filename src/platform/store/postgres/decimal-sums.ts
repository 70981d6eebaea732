import { sql } from "kysely";
import type { DecimalSums } from "../dialect.ts";

// Conversion to numeric keeps the 15 digits that an amount has at most.
export const decimalSums: DecimalSums = {
  split: (amount) => [sql`round(cast(${amount} as numeric), 6)`],
  order: ([sum]) => sql`${sum ?? sql`0`}`,
  text: ([sum]) => sql`cast(${sum ?? sql`0`} as text)`,
  parse: (text) => text,
};
