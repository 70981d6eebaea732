import type { Contract } from "../../contract/index.ts";
import type { DisputeNote } from "../../contract/operations/dispute-notes.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Call, Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  countNotes,
  findNote,
  removeNote,
  selectNotes,
  updateNote,
} from "../store/queries/dispute-notes.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db } from "../store/port.ts";
import type { DisputeNoteRow } from "../store/tables/schema.ts";
import { checkDispute } from "./disputes/present.ts";
import { readListing, parsePage } from "./listing.ts";
import { auditFields, changeFields, creationFields, shorten } from "./records.ts";

const toNote = (row: DisputeNoteRow): DisputeNote => ({
  disputeNoteId: row.id,
  tenantId: row.tenant_id,
  disputeId: row.dispute_id,
  content: row.content,
  visibility: row.visibility,
  ...auditFields(row),
});

const answer = (row: DisputeNoteRow) => ({ body: toNote(row), version: row });

type One = { disputeId: string; noteId: string };

const findOr404 = async (db: Db, call: Call, { disputeId, noteId }: One): Promise<DisputeNoteRow> =>
  (await findNote(db, call.tenantId, disputeId, noteId)) ??
  call.fail("not_found", `The dispute has no note ${shorten(noteId)}.`);

/** Handlers of the notes of disputes. */
export const dispute_notes = ({
  newId,
}: {
  newId: NewId;
}): Handlers<Contract["dispute_notes"]> => ({
  async get({ params }, call) {
    return answer(await findOr404(call.db, call, params));
  },

  async list({ params: { disputeId }, query }, call) {
    await checkDispute(call.db, call, disputeId);
    const notes = await readListing(call, {
      count: (db) => countNotes(db, call.tenantId, disputeId, query.Visibility),
      select: (db) => selectNotes(db, call.tenantId, disputeId, query.Visibility, query.Sort),
      cost: "sorted",
      shape: toNote,
      page: parsePage(query),
    });
    return { body: notes };
  },

  create({ params: { disputeId }, body }, call) {
    const row: DisputeNoteRow = {
      tenant_id: call.tenantId,
      id: newId(),
      dispute_id: disputeId,
      content: body.content,
      visibility: body.visibility ?? "Internal",
      ...creationFields(call),
    };
    return call.change(async (tx) => {
      await checkDispute(tx, call, disputeId);
      await insertAll(tx, "dispute_notes", [row]);
      return { ...answer(row), createdId: row.id };
    });
  },

  update({ params, body }, call) {
    return call.change(async (tx) => {
      const before = await findOr404(tx, call, params);
      checkIfMatch(call, before);
      const { content = before.content, visibility = before.visibility } = body;
      if (content === before.content && visibility === before.visibility) return answer(before);
      const after = { ...before, content, visibility, ...changeFields(before, call) };
      await updateNote(tx, before, after);
      return answer(after);
    });
  },

  delete({ params }, call) {
    return call.change(async (tx) => {
      const note = await findOr404(tx, call, params);
      checkIfMatch(call, note);
      await removeNote(tx, note);
      return { body: null };
    });
  },
});
