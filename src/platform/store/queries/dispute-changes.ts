import { sql } from "kysely";
import type { Db } from "../port.ts";
import { ofTenant } from "../engine/rows.ts";

/** The first status of a request that failed. */
const FAILED = 300;

export type ChangesWithin = { tenantId: string; from: number; to: number; limit: number };

/** A position in the audit log; a position in the closings. Each reads what follows it, newest first. */
export type EntryPlace = { at: number; seq: number };
export type ContentPlace = { at: number; id: string };
export type ClosingPlace = { at: number; documentNumber: string; number: number };

/** Selects the audit entries that change disputes, their notes and files, or the status of documents. */
export const listChangeEntries = (
  db: Db,
  { tenantId, from, to, limit }: ChangesWithin,
  actions: readonly string[],
  after: EntryPlace | undefined,
) => {
  let query = ofTenant(db, "audit_logs", tenantId)
    .select(["at", "seq", "action", "metadata"])
    .where("action", "in", actions)
    .where("at", ">=", from)
    .where("at", "<=", to)
    .where("status_code", "<", FAILED)
    // Most updates of documents leave the status as it is.
    .where(
      sql<boolean>`(action not in ('document.updated', 'document.replaced') or metadata like '%"formerStatus"%')`,
    );
  if (after !== undefined)
    query = query.where(sql<boolean>`(at, seq) < (${after.at}, ${after.seq})`);
  return query.orderBy("at", "desc").orderBy("seq", "desc").limit(limit).execute();
};

/** The tables of what belongs to disputes. */
export type ContentTable = "dispute_notes" | "dispute_attachments";

/** Selects notes or files by the time of their creation, also those of imports. */
export const listCreatedContents = (
  db: Db,
  table: ContentTable,
  { tenantId, from, to, limit }: ChangesWithin,
  after: ContentPlace | undefined,
) => {
  let query = db
    .selectFrom(table)
    .select(["id", "dispute_id", "created_at", "created_by"])
    .where("tenant_id", "=", tenantId)
    .where("created_at", ">=", from)
    .where("created_at", "<=", to);
  if (after !== undefined) {
    query = query.where(sql<boolean>`(created_at, id) > (${after.at}, ${after.id})`);
  }
  return query.orderBy("created_at").orderBy("id").limit(limit).execute();
};

/** Selects the closings of documents with disputes, in the order of their recording. */
export const listRecordedClosings = (
  db: Db,
  { tenantId, from, to, limit }: ChangesWithin,
  after: ClosingPlace | undefined,
) => {
  let query = db
    .selectFrom("document_closures as c")
    .select(["c.created_at", "c.document_number", "c.number", "c.created_by"])
    .where("c.tenant_id", "=", tenantId)
    .where("c.created_at", ">=", from)
    .where("c.created_at", "<=", to)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("disputes as d")
          .select("d.id")
          .whereRef("d.tenant_id", "=", "c.tenant_id")
          .whereRef("d.document_number", "=", "c.document_number"),
      ),
    );
  if (after !== undefined) {
    const { at, documentNumber, number } = after;
    query = query.where(
      sql<boolean>`(c.created_at, c.document_number, c.number) > (${at}, ${documentNumber}, ${number})`,
    );
  }
  return query
    .orderBy("c.created_at")
    .orderBy("c.document_number")
    .orderBy("c.number")
    .limit(limit)
    .execute();
};
