import { addJob, removeJob } from "../../store/queries/jobs.ts";
import { removeDisputeAttachment } from "../../store/queries/dispute-attachments.ts";
import type { Db } from "../../store/port.ts";
import type { DisputeAttachmentRow } from "../../store/tables/schema.ts";

/** An attachment's only job: it waits for the file, and scans it after the upload. */
export const ATTACHMENT_JOB = "dispute_attachment";

type Named = Pick<DisputeAttachmentRow, "tenant_id" | "id">;

/** Replaces the planned check of an attachment by one at `dueAt`. */
export const planAttachment = async (
  tx: Db,
  { tenant_id, id }: Named,
  dueAt: number,
): Promise<void> => {
  await removeJob(tx, { kind: ATTACHMENT_JOB, id, tenantId: tenant_id });
  await addJob(tx, { kind: ATTACHMENT_JOB, id, tenantId: tenant_id, lane: tenant_id, dueAt });
};

/** Removes attachments and their jobs; returns the keys of their files. */
export const removeAttachments = async (
  tx: Db,
  rows: readonly DisputeAttachmentRow[],
): Promise<string[]> => {
  for (const row of rows) {
    await removeDisputeAttachment(tx, row);
    await removeJob(tx, { kind: ATTACHMENT_JOB, id: row.id, tenantId: row.tenant_id });
  }
  return rows.flatMap(({ file_key }) => (file_key === null ? [] : [file_key]));
};
