import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { toSearchColumns } from "../audit/entries.ts";
import type { AuditHead, AuditKey } from "../audit-key.ts";
import type { Tables } from "../tables/schema.ts";
import type { Sealing } from "../audit/signing.ts";
import type { Types } from "./addition.ts";

type Db = Kysely<Pick<Tables, "tenants" | "audit_logs" | "audit_heads">>;

const EMPTY: AuditHead = { seq: 0, hash: "", purged_seq: 0, purged_hash: "" };

/** Appends the entry that seals a chain without a key; its code covers the hash of the last entry before it. */
const appendSeal = async (
  db: Db,
  key: AuditKey,
  { clock, newId }: Sealing,
  { tenantId, head }: { tenantId: string; head: AuditHead },
): Promise<AuditHead> => {
  const { count } = await db
    .selectFrom("audit_logs")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("tenant_id", "=", tenantId)
    .executeTakeFirstOrThrow();
  const metadata = { entries: count, lastEntry: head.seq, lastHash: head.hash };
  const fields = { method: "SYSTEM", endpoint: "/audit-logs", action: "audit.sealed" };
  const link = {
    ...fields,
    tenant_id: tenantId,
    seq: head.seq + 1,
    id: newId(),
    at: clock(),
    status_code: 200,
    metadata: JSON.stringify(metadata),
    prev_hash: head.hash,
  };
  const hash = key.seal(link);
  await db
    .insertInto("audit_logs")
    .values({ ...link, ...toSearchColumns({ ...fields, metadata }), hash })
    .execute();
  return { ...head, seq: link.seq, hash };
};

const sealChains = async (db: Db, sealing: Sealing): Promise<void> => {
  const tenants = await db.selectFrom("tenants").select("id").orderBy("id").execute();
  if (tenants.length === 0) return;
  const key = await sealing.key();
  for (const { id: tenantId } of tenants) {
    const known = await db
      .selectFrom("audit_heads")
      .select(["seq", "hash", "purged_seq", "purged_hash"])
      .where("tenant_id", "=", tenantId)
      .executeTakeFirst();
    const head =
      known === undefined ? EMPTY : await appendSeal(db, key, sealing, { tenantId, head: known });
    const signed = { ...head, mac: key.head(tenantId, head), key_id: key.id };
    await db
      .insertInto("audit_heads")
      .values({ tenant_id: tenantId, ...signed })
      .onConflict((conflict) => conflict.column("tenant_id").doUpdateSet(signed))
      .execute();
  }
};

/**
 * Signs the heads of audit chains. The columns are added without "if not exists": a store cannot go through this step
 * a second time, so an altered chain cannot get a new seal by a change of rows alone.
 */
export const auditKey = (types: Types, sealing: Sealing): Migration => ({
  async up(db) {
    for (const column of ["mac", "key_id"]) {
      await db.schema
        .alterTable("audit_heads")
        .addColumn(column, types.text as "text", (added) => added.notNull().defaultTo(""))
        .execute();
    }
    await sealChains(db as Db, sealing);
  },
});
