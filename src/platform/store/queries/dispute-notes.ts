import type { SortKey } from "../../../contract/fields.ts";
import type { NOTE_SORT } from "../../../contract/operations/dispute-notes.ts";
import { hasDispute } from "./disputes.ts";
import type { Db } from "../port.ts";
import type { DisputeNoteRow } from "../tables/schema.ts";

type SortField = (typeof NOTE_SORT)[number];

const COLUMNS = { CreateDate: "created_at", UpdateDate: "updated_at" } as const;

const ofDispute = (db: Db, tenantId: string, disputeId: string) =>
  db
    .selectFrom("dispute_notes")
    .where("tenant_id", "=", tenantId)
    .where("dispute_id", "=", disputeId);

/** Finds a note unless its dispute is deleted, since the notes of that are removed later. */
export const findNote = (db: Db, tenantId: string, disputeId: string, id: string) =>
  ofDispute(db, tenantId, disputeId)
    .selectAll()
    .where("id", "=", id)
    .where(hasDispute(tenantId, disputeId))
    .executeTakeFirst();

type Visibilities = readonly DisputeNoteRow["visibility"][] | undefined;

export const countNotes = async (
  db: Db,
  tenantId: string,
  disputeId: string,
  visibilities: Visibilities,
): Promise<number> => {
  let query = ofDispute(db, tenantId, disputeId);
  if (visibilities !== undefined) query = query.where("visibility", "in", visibilities);
  const { total } = await query
    .select((eb) => eb.fn.countAll().as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
};

export const selectNotes = (
  db: Db,
  tenantId: string,
  disputeId: string,
  visibilities: Visibilities,
  sort: readonly SortKey<SortField>[] = [{ field: "CreateDate", descending: true }],
) => {
  let query = ofDispute(db, tenantId, disputeId).selectAll();
  if (visibilities !== undefined) query = query.where("visibility", "in", visibilities);
  for (const { field, descending } of sort) {
    query = query.orderBy(COLUMNS[field], descending ? "desc" : "asc");
  }
  return query.orderBy("id", sort.at(-1)?.descending === true ? "desc" : "asc");
};

export const updateNote = async (
  tx: Db,
  note: DisputeNoteRow,
  change: Partial<DisputeNoteRow>,
): Promise<void> => {
  await tx
    .updateTable("dispute_notes")
    .set(change)
    .where("tenant_id", "=", note.tenant_id)
    .where("id", "=", note.id)
    .execute();
};

export const removeNote = async (tx: Db, note: DisputeNoteRow): Promise<void> => {
  await tx
    .deleteFrom("dispute_notes")
    .where("tenant_id", "=", note.tenant_id)
    .where("id", "=", note.id)
    .execute();
};

/** Removes a dispute's first `most` notes; returns how many. */
export const removeNotes = async (
  tx: Db,
  tenantId: string,
  disputeId: string,
  most: number,
): Promise<number> => {
  const { numDeletedRows } = await tx
    .deleteFrom("dispute_notes")
    .where("tenant_id", "=", tenantId)
    .where("id", "in", ofDispute(tx, tenantId, disputeId).select("id").limit(most))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
};
