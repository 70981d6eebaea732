import { type RawBuilder, sql } from "kysely";
import { type Metadata, type NewEntry, removeSeparator } from "../audit/entries.ts";
import type { Db } from "../port.ts";
import { escapeWildcards, toLikePattern } from "../engine/search.ts";
import { countOf, ofTenant } from "../engine/rows.ts";

export type AuditFilter = {
  from?: number | undefined;
  to?: number | undefined;
  endpoint?: string | undefined;
  action?: string | undefined;
  statusCode?: number | undefined;
  scheduleId?: string | undefined;
  /** The whole id or number of a record in the metadata. */
  resourceId?: string | undefined;
  q?: string | undefined;
};

/** A position in a traversal of the log, which contains the entries that existed when it began. */
export type Walk = {
  /** The last link of the chain at that time. */
  top: number;
  /** The last entry returned. */
  after?: { at: number; seq: number } | undefined;
};

/** The ends of the metadata keys that hold ids and numbers of records, with what precedes a text in JSON. */
const RESOURCE_KEYS = ['Id":"', 'Number":"', '_number":"'];

/**
 * The condition that the metadata holds a record's id or number that begins with the text; `end` is what follows the
 * text. The person who acted is not the record of an entry. Letter case does not matter.
 */
const namesResource = (text: string, end = ""): RawBuilder<boolean> => {
  const value = `${JSON.stringify(text).slice(1, -1)}${end}`;
  const patterns = RESOURCE_KEYS.map((key) => `%${escapeWildcards(key + value)}%`);
  const matches = patterns.map(
    (pattern) => sql`replace(lower(metadata), '"userid":', '') like lower(${pattern}) escape '\\'`,
  );
  return sql<boolean>`(${sql.join(matches, sql` or `)})`;
};

const selectMatching = (db: Db, tenantId: string, filter: AuditFilter, { top, after }: Walk) => {
  let query = ofTenant(db, "audit_logs", tenantId)
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
  const { q, resourceId } = filter;
  if (resourceId !== undefined) query = query.where(namesResource(resourceId, '"'));
  if (q !== undefined) {
    const found = sql`search like ${toLikePattern(removeSeparator(q))} escape '\\'`;
    query = query.where(sql<boolean>`(${found} or ${namesResource(q)})`);
  }
  return query;
};

/** Whether no index finds the entries of a filter, so that many are read for each match. */
export const isScanned = (filter: AuditFilter): boolean => {
  const { endpoint, statusCode, q, action, scheduleId, resourceId } = filter;
  return (
    endpoint !== undefined ||
    statusCode !== undefined ||
    q !== undefined ||
    resourceId !== undefined ||
    (action !== undefined && scheduleId !== undefined)
  );
};

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
export const countEntries = (
  db: Db,
  tenantId: string,
  filter: AuditFilter,
  walk: Walk,
  most: number,
): Promise<number> => {
  const found = selectMatching(db, tenantId, filter, walk).select("seq").limit(most);
  return countOf(db.selectFrom(found.as("found")));
};

/** Finds a tenant's entries with these ids and times. */
export const findEntries = async (
  db: Db,
  tenantId: string,
  identified: readonly { id: string; at: number }[],
): Promise<NewEntry[]> => {
  const rows = await ofTenant(db, "audit_logs", tenantId)
    .select(["id", "at", "method", "endpoint", "action", "status_code", "metadata"])
    .where("at", "in", [...new Set(identified.map(({ at }) => at))])
    .where("id", "in", [...new Set(identified.map(({ id }) => id))])
    .execute();
  return rows.map(({ status_code: statusCode, metadata, ...row }) => ({
    ...row,
    tenantId,
    statusCode,
    metadata: JSON.parse(metadata) as Metadata,
  }));
};

/** Selects the entries whose metadata name a user. */
export const selectEntriesNaming = (db: Db, tenantId: string, userId: string) =>
  ofTenant(db, "audit_logs", tenantId)
    .select(["id", "at", "action", "method", "endpoint", "status_code", "metadata"])
    .where("metadata", "like", `%"${userId}"%`)
    .orderBy("seq");
