import { sql } from "kysely";
import type { Db } from "../port.ts";
import type { DisputeRow } from "../tables/schema.ts";

type Status = DisputeRow["status"];

export const addToTotal = async (
  tx: Db,
  tenantId: string,
  status: Status,
  more: number,
): Promise<void> => {
  await tx
    .insertInto("dispute_totals")
    .values({ tenant_id: tenantId, status, total: more })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "status"])
        .doUpdateSet({ total: sql`dispute_totals.total + ${more}` }),
    )
    .execute();
};

/** Counts disputes under another status. */
export const moveTotal = async (
  tx: Db,
  tenantId: string,
  [from, to]: readonly [Status, Status],
  moved = 1,
): Promise<void> => {
  if (from === to || moved === 0) return;
  await addToTotal(tx, tenantId, from, -moved);
  await addToTotal(tx, tenantId, to, moved);
};

/** Counts all of a tenant's disputes, where it has no totals yet. */
export const computeTotals = async (tx: Db, tenantId: string): Promise<void> => {
  await tx
    .insertInto("dispute_totals")
    .columns(["tenant_id", "status", "total"])
    .expression((eb) =>
      eb
        .selectFrom("disputes")
        .select(["tenant_id", "status", sql<number>`count(*)`.as("total")])
        .where("tenant_id", "=", tenantId)
        .groupBy(["tenant_id", "status"]),
    )
    .execute();
};
