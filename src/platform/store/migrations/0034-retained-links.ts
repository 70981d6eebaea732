import type { Migration } from "kysely/migration";
import { findLinkRow, storeLink } from "../audit/retained-link.ts";
import type { Sealing } from "../audit/signing.ts";
import type { Db } from "../port.ts";
import { addColumn, type Types } from "./addition.ts";

/**
 * Gives the links that retention has left a code. Here only those of logs without a signed head, which nothing can prove
 * or disprove; the others get theirs when the next signed head proves them. The column is added without "if not exists":
 * a store cannot go through this step a second time, so an altered link cannot get a code by a change of rows alone.
 */
export const retainedLinks = (types: Types, sealing: Sealing): Migration => ({
  async up(database) {
    await addColumn(database, types, ["evidence_heads", "mac", "text"]);
    const db = database as unknown as Db;
    const logs = await db
      .selectFrom("audit_heads")
      .select(["tenant_id", "purged_seq", "purged_hash"])
      .where("purged_seq", ">", 0)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("evidence_heads")
              .select("seq")
              .whereRef("evidence_heads.tenant_id", "=", "audit_heads.tenant_id")
              .where("signature", "<>", ""),
          ),
        ),
      )
      .orderBy("tenant_id")
      .execute();
    if (logs.length === 0) return;
    const key = await sealing.key();
    for (const { tenant_id: tenantId, ...end } of logs) {
      // A version before links were kept has left none: the first remaining entry then follows an empty one.
      const link = (await findLinkRow(db, tenantId, end.purged_seq))?.link ?? "";
      await storeLink(db, key, tenantId, { end, link, at: sealing.clock() });
    }
  },
});
