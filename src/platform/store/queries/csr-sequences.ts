import { sql } from "kysely";
import type { Db } from "../port.ts";
import { prepareQuery } from "../engine/prepared.ts";
import type { CsrSequenceRow } from "../tables/schema.ts";

const taking = prepareQuery(
  (db: Db, tenantId: string, noun: CsrSequenceRow["noun"], count: number) =>
    db
      .insertInto("csr_sequences")
      .values({ tenant_id: tenantId, noun, last: count })
      .onConflict((conflict) =>
        conflict
          .columns(["tenant_id", "noun"])
          .doUpdateSet({ last: sql`csr_sequences.last + excluded.last` }),
      )
      .returning("last"),
);

/** Reserves csrIds and returns the first; none is ever used twice. */
export const takeCsrIds = async (
  tx: Db,
  tenantId: string,
  noun: CsrSequenceRow["noun"],
  count = 1,
): Promise<number> => {
  const [taken] = await taking(tx, tenantId, noun, count);
  if (taken === undefined) throw new Error("no csrId was taken");
  return taken.last - count + 1;
};
