import { sql } from "kysely";
import type { Db } from "./port.ts";
import type { CsrSequenceRow } from "./tables.ts";

/** The first of as many new csrIds as are wanted; none is ever given twice. */
export const takeCsrIds = async (
  tx: Db,
  tenantId: string,
  noun: CsrSequenceRow["noun"],
  wanted = 1,
): Promise<number> => {
  const { last } = await tx
    .insertInto("csr_sequences")
    .values({ tenant_id: tenantId, noun, last: wanted })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "noun"])
        .doUpdateSet({ last: sql`csr_sequences.last + excluded.last` }),
    )
    .returning("last")
    .executeTakeFirstOrThrow();
  return last - wanted + 1;
};
