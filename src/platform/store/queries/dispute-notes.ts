import { sql } from "kysely";
import type { SortKey } from "../../../contract/fields.ts";
import type { NOTE_SORT } from "../../../contract/operations/dispute-notes.ts";
import { createKeyedTable } from "./coded-table.ts";
import { hasDispute } from "./disputes.ts";
import type { Db } from "../port.ts";
import type { DisputeNoteRow } from "../tables/schema.ts";
import { countOf, countRemoved, createFindAmong, ofTenant } from "../engine/rows.ts";

export const { update: updateNote, remove: removeNote } = createKeyedTable("dispute_notes");

type SortField = (typeof NOTE_SORT)[number];

const COLUMNS = { CreateDate: "created_at", UpdateDate: "updated_at" } as const;

type Visibilities = readonly DisputeNoteRow["visibility"][] | undefined;

const ofDispute = (db: Db, tenantId: string, disputeId: string, visibilities?: Visibilities) => {
  const all = ofTenant(db, "dispute_notes", tenantId).where("dispute_id", "=", disputeId);
  return visibilities === undefined ? all : all.where("visibility", "in", visibilities);
};

/** Finds a note unless its dispute is deleted, since the notes of that are removed later. */
export const findNote = (db: Db, tenantId: string, disputeId: string, id: string) =>
  ofDispute(db, tenantId, disputeId)
    .selectAll()
    .where("id", "=", id)
    .where(hasDispute(tenantId, disputeId))
    .executeTakeFirst();

/** Finds notes of any dispute by id. */
export const findNotes = createFindAmong("dispute_notes", "id");

export const countNotes = (...of: Parameters<typeof ofDispute>): Promise<number> =>
  countOf(ofDispute(...of));

export const selectNotes = (
  db: Db,
  tenantId: string,
  disputeId: string,
  visibilities: Visibilities,
  sort: readonly SortKey<SortField>[] = [{ field: "CreateDate", descending: true }],
) => {
  let query = ofDispute(db, tenantId, disputeId, visibilities).selectAll();
  for (const { field, descending } of sort) {
    query = query.orderBy(COLUMNS[field], descending ? "desc" : "asc");
  }
  return query.orderBy("id", sort.at(-1)?.descending === true ? "desc" : "asc");
};

/** Removes a dispute's first `most` notes; returns how many. */
export const removeNotes = (
  tx: Db,
  tenantId: string,
  disputeId: string,
  most: number,
): Promise<number> => {
  const first = ofDispute(tx, tenantId, disputeId).select("id").limit(most);
  const all = tx.deleteFrom("dispute_notes").where("tenant_id", "=", tenantId);
  return countRemoved(all.where("id", "in", first));
};

/** Selects the notes of an author, who may have several names, oldest first. */
export const selectNotesBy = (db: Db, tenantId: string, authors: readonly string[]) =>
  ofTenant(db, "dispute_notes", tenantId)
    .select(["id", "dispute_id", "content", "created_at"])
    .where("created_by", "in", authors)
    .orderBy("created_at");

/** Replaces the author of notes on disputes and accounts. */
export const replaceAuthor = async (
  tx: Db,
  tenantId: string,
  author: string,
  by: string,
): Promise<void> => {
  const places = [
    ["dispute_notes", "created_by"],
    ["dispute_notes", "updated_by"],
    ["account_notes", "created_by"],
  ] as const;
  for (const [table, column] of places) {
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${by}
      where tenant_id = ${tenantId} and ${sql.ref(column)} = ${author}`.execute(tx);
  }
};

/** Lists the ids of deleted disputes that still have notes or attachments. */
export const listUnremoved = async (db: Db, tenantId: string): Promise<Set<string>> => {
  const ids = new Set<string>();
  for (const table of ["dispute_notes", "dispute_attachments"] as const) {
    const rows = await db
      .selectFrom(table)
      .select("dispute_id")
      .distinct()
      .where("tenant_id", "=", tenantId)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("disputes as d")
              .select("d.id")
              .where("d.tenant_id", "=", tenantId)
              .whereRef("d.id", "=", `${table}.dispute_id`),
          ),
        ),
      )
      .execute();
    for (const { dispute_id } of rows) ids.add(dispute_id);
  }
  return ids;
};
