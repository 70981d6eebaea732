import { sql } from "kysely";
import { type Metadata, type NewEntry, removeSeparator } from "./audit-entries.ts";
import { fold } from "./fold.ts";
import type { Db } from "./port.ts";

export type AuditFilter = {
  from?: number | undefined;
  to?: number | undefined;
  endpoint?: string | undefined;
  action?: string | undefined;
  statusCode?: number | undefined;
  scheduleId?: string | undefined;
  q?: string | undefined;
};

/** A position in a traversal of the log, which contains the entries that existed when it began. */
export type Walk = {
  /** The last link of the chain at that time. */
  top: number;
  /** The last entry returned. */
  after?: { at: number; seq: number } | undefined;
};

/** Returns a pattern for `like … escape '\'` that matches the text anywhere, wildcards taken literally. */
export const toLikePattern = (text: string): string => `%${fold(text).replace(/[\\%_]/g, "\\$&")}%`;

const selectMatching = (db: Db, tenantId: string, filter: AuditFilter, { top, after }: Walk) => {
  let query = db
    .selectFrom("audit_logs")
    .where("tenant_id", "=", tenantId)
    // The plus prevents the use of an index that does not give the order.
    .where(sql<boolean>`+seq <= ${top}`)
    .orderBy("at", "desc")
    .orderBy("seq", "desc");
  if (filter.from !== undefined) query = query.where("at", ">=", filter.from);
  if (filter.to !== undefined) query = query.where("at", "<=", filter.to);
  if (filter.endpoint !== undefined) query = query.where("endpoint", "=", filter.endpoint);
  if (filter.action !== undefined) query = query.where("action", "=", filter.action);
  if (filter.statusCode !== undefined) query = query.where("status_code", "=", filter.statusCode);
  if (filter.scheduleId !== undefined) query = query.where("schedule_id", "=", filter.scheduleId);
  if (after !== undefined) {
    query = query.where(sql<boolean>`(at, seq) < (${after.at}, ${after.seq})`);
  }
  const { q } = filter;
  if (q !== undefined) {
    query = query.where(sql<boolean>`search like ${toLikePattern(removeSeparator(q))} escape '\\'`);
  }
  return query;
};

/** Whether no index finds the entries of a filter, so that many are read for each match. */
export const isScanned = ({ endpoint, statusCode, q, action, scheduleId }: AuditFilter): boolean =>
  endpoint !== undefined ||
  statusCode !== undefined ||
  q !== undefined ||
  (action !== undefined && scheduleId !== undefined);

/** Selects a tenant's entries, newest first. */
export const selectEntries = (db: Db, tenantId: string, filter: AuditFilter, walk: Walk) =>
  selectMatching(db, tenantId, filter, walk).select([
    "seq",
    "id",
    "at",
    "method",
    "endpoint",
    "action",
    "status_code",
    "metadata",
    "tenant_id",
  ]);

/** Counts the remaining entries of a traversal, up to `most`. */
export const countEntries = async (
  db: Db,
  tenantId: string,
  filter: AuditFilter,
  walk: Walk,
  most: number,
): Promise<number> => {
  const { count } = await db
    .selectFrom(selectMatching(db, tenantId, filter, walk).select("seq").limit(most).as("found"))
    .select((all) => all.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
};

/** Finds a tenant's entries with these ids and times. */
export const findEntries = async (
  db: Db,
  tenantId: string,
  sought: readonly { id: string; at: number }[],
): Promise<NewEntry[]> => {
  const rows = await db
    .selectFrom("audit_logs")
    .select(["id", "at", "method", "endpoint", "action", "status_code", "metadata"])
    .where("tenant_id", "=", tenantId)
    .where("at", "in", [...new Set(sought.map(({ at }) => at))])
    .where("id", "in", [...new Set(sought.map(({ id }) => id))])
    .execute();
  return rows.map(({ status_code: statusCode, metadata, ...row }) => ({
    ...row,
    tenantId,
    statusCode,
    metadata: JSON.parse(metadata) as Metadata,
  }));
};
