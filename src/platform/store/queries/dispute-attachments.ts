import { createKeyedTable } from "./coded-table.ts";
import { hasDispute } from "./disputes.ts";
import type { Db } from "../port.ts";
import type { DisputeAttachmentRow } from "../tables/schema.ts";
import { countOf, ofTenant } from "../engine/rows.ts";

export const { update: updateDisputeAttachment, remove: removeDisputeAttachment } =
  createKeyedTable("dispute_attachments");

type Visibilities = readonly DisputeAttachmentRow["visibility"][] | undefined;

const ofDispute = (db: Db, tenantId: string, disputeId: string, visibilities?: Visibilities) => {
  const all = ofTenant(db, "dispute_attachments", tenantId).where("dispute_id", "=", disputeId);
  return visibilities === undefined ? all : all.where("visibility", "in", visibilities);
};

/** Finds an attachment unless its dispute is deleted, since the attachments of that are removed later. */
export const findDisputeAttachment = (
  db: Db,
  tenantId: string,
  { disputeId, attachmentId }: { disputeId: string; attachmentId: string },
) =>
  ofDispute(db, tenantId, disputeId)
    .selectAll()
    .where("id", "=", attachmentId)
    .where(hasDispute(tenantId, disputeId))
    .executeTakeFirst();

/** Finds an attachment by the id in a signed URL. The caller must verify the URL's signature against the row. */
export const findSignedAttachment = (
  db: Db,
  id: string,
): Promise<DisputeAttachmentRow | undefined> =>
  db
    .selectFrom("dispute_attachments as a")
    .innerJoin("disputes as d", (on) =>
      on.onRef("d.tenant_id", "=", "a.tenant_id").onRef("d.id", "=", "a.dispute_id"),
    )
    .selectAll("a")
    .where("a.id", "=", id)
    .executeTakeFirst();

export const countDisputeAttachments = (...of: Parameters<typeof ofDispute>): Promise<number> =>
  countOf(ofDispute(...of));

export const selectDisputeAttachments = (...of: Parameters<typeof ofDispute>) =>
  ofDispute(...of)
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id", "desc");

/** Selects a deleted dispute's first `most` attachments. */
export const selectAttachmentsToRemove = (
  tx: Db,
  tenantId: string,
  disputeId: string,
  most: number,
) => ofDispute(tx, tenantId, disputeId).selectAll().limit(most).execute();

/** Lists a tenant's attachments that wait for their upload or their scan. */
export const listUnscanned = (db: Db, tenantId: string) =>
  ofTenant(db, "dispute_attachments", tenantId)
    .select(["id", "file_key", "upload_expires_at"])
    .where("status", "=", "PendingScan")
    .execute();
