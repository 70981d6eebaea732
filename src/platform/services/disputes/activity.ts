import type { Contract } from "../../../contract/index.ts";
import type { DisputeActivity } from "../../../contract/insights/dispute-activity.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import type { Handlers } from "../../handlers.ts";
import { type ActivityRow, selectActivity } from "../../store/queries/dispute-activity.ts";

const toLastNote = (row: ActivityRow): DisputeActivity["lastNote"] => {
  const { note_content, note_visibility, noted_by, noted_at } = row;
  if (note_content === null || note_visibility === null || noted_at === null) return null;
  return {
    content: note_content,
    visibility: note_visibility,
    createUser: noted_by ?? "",
    createDate: formatTimestamp(Number(noted_at)),
  };
};

/** Returns the latest events of a dispute. */
export const toActivity = (row: ActivityRow): DisputeActivity => {
  const { changed_at, note_changed_at, file_changed_at, document_status, document_closed_at } = row;
  const newest = Math.max(Number(changed_at), Number(note_changed_at), Number(file_changed_at));
  const isClosed = document_status === "closed" && document_closed_at !== null;
  return {
    disputeId: row.id,
    lastActivityDate: formatTimestamp(newest),
    noteCount: Number(row.notes),
    attachmentCount: Number(row.attachments),
    lastNote: toLastNote(row),
    documentStatus: document_status ?? "missing",
    documentClosedDate: isClosed ? formatTimestamp(Number(document_closed_at)) : null,
  };
};

/** Tells what happened last to disputes: one request for what would take two or three for each of them. */
export const readActivity: Handlers<Contract["disputes"]>["activity"] = async ({ body }, call) => {
  // A dispute can have any number of notes, so the read must not hold the event loop.
  await using snapshot = await call.snapshot({ aggregates: true });
  const rows = await selectActivity(snapshot.db, call.tenantId, [...new Set(body.disputeIds)]);
  return { body: rows.map(toActivity) };
};
