import { createHash } from "node:crypto";
import { sql } from "kysely";
import { fold } from "./fold.ts";
import type { Db } from "./port.ts";
import { prepared } from "./prepared.ts";
import type { AuditHeadRow, AuditLogRow } from "./tables.ts";

/** Flat: ids, counts and words. */
export type Metadata = Record<string, string | number | boolean | null>;

export type NewEntry = {
  tenantId: string;
  id: string;
  at: number;
  method: string;
  endpoint: string;
  /** Null for one from before actions had names. */
  action: string | null;
  statusCode: number;
  metadata: Metadata;
};

const SEARCHED = ["scheduleId", "webhookId", "runId", "source", "mcpTool", "status"];

const SEPARATOR = "\u001f";

/** Text without what stands between the values that are searched, so that no match spans two of them. */
export const withoutSeparator = (text: string): string => text.replaceAll(SEPARATOR, " ");

/** What is found by: it follows from the entry, so that it can be checked against it. */
export const foundBy = ({
  endpoint,
  action,
  metadata,
}: Pick<NewEntry, "endpoint" | "action" | "metadata">): Pick<
  AuditLogRow,
  "schedule_id" | "search"
> => ({
  schedule_id: metadata["scheduleId"]?.toString() ?? null,
  search: [endpoint, action ?? "", ...SEARCHED.map((key) => metadata[key] ?? "")]
    .map((part) => withoutSeparator(fold(String(part))))
    .join(SEPARATOR),
});

type Linked = Omit<AuditLogRow, "hash" | "search" | "schedule_id">;

/** What a link of the chain commits to: the entry as stored and the link before it. */
export const linkHash = (row: Linked): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        row.prev_hash,
        row.tenant_id,
        row.seq,
        row.id,
        row.at,
        row.method,
        row.endpoint,
        row.action,
        row.status_code,
        row.metadata,
      ]),
    )
    .digest("hex");

const toRow = (entry: NewEntry, seq: number, prevHash: string): AuditLogRow => {
  const linked: Linked = {
    tenant_id: entry.tenantId,
    seq,
    id: entry.id,
    at: entry.at,
    method: entry.method,
    endpoint: entry.endpoint,
    action: entry.action,
    status_code: entry.statusCode,
    metadata: JSON.stringify(entry.metadata),
    prev_hash: prevHash,
  };
  return {
    ...linked,
    ...foundBy(entry),
    hash: linkHash(linked),
  };
};

const COLUMNS = [
  "tenant_id",
  "seq",
  "id",
  "at",
  "method",
  "endpoint",
  "action",
  "status_code",
  "metadata",
  "schedule_id",
  "search",
  "prev_hash",
  "hash",
] as const satisfies (keyof AuditLogRow)[];

const inserting = (size: number) =>
  prepared((db: Db, ...values: (string | number | null)[]) =>
    db
      .insertInto("audit_logs")
      .values(
        Array.from({ length: size }, (_, row) =>
          Object.fromEntries(
            COLUMNS.map((column, index) => [column, values[row * COLUMNS.length + index]]),
          ),
        ) as AuditLogRow[],
      ),
  );

// Few shapes, each compiled once; any number of rows is a few of them.
const INSERTS = [32, 16, 8, 4, 2, 1].map((size) => ({ size, insert: inserting(size) }));

const insertRows = async (tx: Db, rows: readonly AuditLogRow[]): Promise<void> => {
  let done = 0;
  for (const { size, insert } of INSERTS) {
    for (; rows.length - done >= size; done += size) {
      const values = rows
        .slice(done, done + size)
        .flatMap((row) => COLUMNS.map((column) => row[column]));
      await insert(tx, ...values);
    }
  }
};

const advanceHead = prepared((db: Db, tenantId: string, more: number) =>
  db
    .insertInto("audit_heads")
    .values({ tenant_id: tenantId, seq: more, hash: "", purged_seq: 0, purged_hash: "" })
    .onConflict((conflict) =>
      conflict.column("tenant_id").doUpdateSet({ seq: sql`audit_heads.seq + excluded.seq` }),
    )
    .returning(["seq", "hash"]),
);

const setHead = prepared((db: Db, hash: string, tenantId: string) =>
  db.updateTable("audit_heads").set({ hash }).where("tenant_id", "=", tenantId),
);

/** Appends one tenant's entries to its chain. Takes the tenant's head row, so it comes last in a transaction. */
const appendChain = async (tx: Db, tenantId: string, entries: NewEntry[]): Promise<void> => {
  const [head] = await advanceHead(tx, tenantId, entries.length);
  if (head === undefined) throw new Error("the chain of audit entries has no head");
  let { hash } = head;
  const first = head.seq - entries.length + 1;
  const rows = entries.map((entry, index) => {
    const made = toRow(entry, first + index, hash);
    ({ hash } = made);
    return made;
  });
  await insertRows(tx, rows);
  await setHead(tx, hash, tenantId);
};

/** Appends entries, a chain per tenant; tenants in order, so that two writers never wait for each other. */
export const appendEntries = async (tx: Db, entries: readonly NewEntry[]): Promise<void> => {
  const byTenant = Map.groupBy(entries, (entry) => entry.tenantId);
  for (const tenantId of [...byTenant.keys()].toSorted()) {
    await appendChain(tx, tenantId, byTenant.get(tenantId) ?? []);
  }
};

const PURGED_AT_ONCE = 1000;

/**
 * Removes entries that begin a tenant's chain and were made before a moment, at most a thousand; the head keeps what
 * the first one left refers to. Gives how many.
 */
export const purgeEntries = async (tx: Db, tenantId: string, before: number): Promise<number> => {
  const first = await tx
    .selectFrom("audit_logs")
    .select(["seq", "at", "hash"])
    .where("tenant_id", "=", tenantId)
    .orderBy("seq")
    .limit(PURGED_AT_ONCE)
    .execute();
  const kept = first.findIndex(({ at }) => at >= before);
  const old = kept === -1 ? first : first.slice(0, kept);
  const last = old.at(-1);
  if (last === undefined) return 0;
  await tx
    .deleteFrom("audit_logs")
    .where("tenant_id", "=", tenantId)
    .where("seq", "<=", last.seq)
    .execute();
  // Last, because it takes the tenant's head row; another process may have come further.
  await tx
    .updateTable("audit_heads")
    .set({ purged_seq: last.seq, purged_hash: last.hash })
    .where("tenant_id", "=", tenantId)
    .where("purged_seq", "<", last.seq)
    .execute();
  return old.length;
};

const NO_HEAD = { seq: 0, hash: "", purged_seq: 0, purged_hash: "" };

/** The chain's two ends: its last link, and the last one that a purge has removed. */
export const findHead = async (
  db: Db,
  tenantId: string,
): Promise<Omit<AuditHeadRow, "tenant_id">> =>
  (await db
    .selectFrom("audit_heads")
    .select(["seq", "hash", "purged_seq", "purged_hash"])
    .where("tenant_id", "=", tenantId)
    .executeTakeFirst()) ?? NO_HEAD;

/** A tenant's whole chain from its beginning. */
export const selectChain = (db: Db, tenantId: string) =>
  db.selectFrom("audit_logs").selectAll().where("tenant_id", "=", tenantId).orderBy("seq");
