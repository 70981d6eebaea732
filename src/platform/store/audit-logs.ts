import { createHash } from "node:crypto";
import { sql } from "kysely";
import { fold } from "./fold.ts";
import type { Db } from "./port.ts";
import { prepared } from "./prepared.ts";
import type { AuditLogRow } from "./tables.ts";

export type NewEntry = {
  tenantId: string;
  id: string;
  at: number;
  method: string;
  endpoint: string;
  action: string;
  statusCode: number;
  metadata: Record<string, string | number>;
};

const SEARCHED = ["scheduleId", "webhookId", "runId", "source", "mcpTool", "status"];

// A separator that no query can hold, so that a match never spans two values.
export const SEPARATOR = "\u001f";

const searchText = (entry: NewEntry): string =>
  [entry.endpoint, entry.action, ...SEARCHED.map((key) => entry.metadata[key] ?? "")]
    .map((part) => fold(String(part)).replaceAll(SEPARATOR, " "))
    .join(SEPARATOR);

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
    schedule_id: entry.metadata["scheduleId"]?.toString() ?? null,
    search: searchText(entry),
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

/** Appends one tenant's entries to its chain. Takes the tenant's head row, so it comes last in a transaction. */
const appendChain = async (tx: Db, tenantId: string, entries: NewEntry[]): Promise<void> => {
  const head = await tx
    .insertInto("audit_heads")
    .values({ tenant_id: tenantId, seq: entries.length, hash: "" })
    .onConflict((conflict) =>
      conflict.column("tenant_id").doUpdateSet({ seq: sql`audit_heads.seq + ${entries.length}` }),
    )
    .returning(["seq", "hash"])
    .executeTakeFirstOrThrow();
  let { hash } = head;
  const first = head.seq - entries.length + 1;
  const rows = entries.map((entry, index) => {
    const made = toRow(entry, first + index, hash);
    ({ hash } = made);
    return made;
  });
  await insertRows(tx, rows);
  await tx.updateTable("audit_heads").set({ hash }).where("tenant_id", "=", tenantId).execute();
};

/** Appends entries, a chain per tenant; tenants in order, so that two writers never wait for each other. */
export const appendEntries = async (tx: Db, entries: readonly NewEntry[]): Promise<void> => {
  const byTenant = Map.groupBy(entries, (entry) => entry.tenantId);
  for (const tenantId of [...byTenant.keys()].toSorted()) {
    await appendChain(tx, tenantId, byTenant.get(tenantId) ?? []);
  }
};

export type AuditFilter = {
  from?: number | undefined;
  to?: number | undefined;
  endpoint?: string | undefined;
  action?: string | undefined;
  statusCode?: number | undefined;
  scheduleId?: string | undefined;
  q?: string | undefined;
  /** Only entries older than this one. */
  before?: number | undefined;
};

/** The pattern of a `like … escape '\'` that finds the text anywhere, wildcards taken literally. */
export const containing = (text: string): string => `%${fold(text).replace(/[\\%_]/g, "\\$&")}%`;

/** A tenant's entries, newest first. */
export const selectEntries = (db: Db, tenantId: string, filter: AuditFilter) => {
  let query = db
    .selectFrom("audit_logs")
    .select([
      "seq",
      "id",
      "at",
      "method",
      "endpoint",
      "action",
      "status_code",
      "metadata",
      "tenant_id",
    ])
    .where("tenant_id", "=", tenantId)
    .orderBy("seq", "desc");
  if (filter.from !== undefined) query = query.where("at", ">=", filter.from);
  if (filter.to !== undefined) query = query.where("at", "<=", filter.to);
  if (filter.endpoint !== undefined) query = query.where("endpoint", "=", filter.endpoint);
  if (filter.action !== undefined) query = query.where("action", "=", filter.action);
  if (filter.statusCode !== undefined) query = query.where("status_code", "=", filter.statusCode);
  if (filter.scheduleId !== undefined) query = query.where("schedule_id", "=", filter.scheduleId);
  if (filter.before !== undefined) query = query.where("seq", "<", filter.before);
  const { q } = filter;
  if (q !== undefined) {
    query = query.where(sql<boolean>`search like ${containing(q)} escape '\\'`);
  }
  return query;
};
