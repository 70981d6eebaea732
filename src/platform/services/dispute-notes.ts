import type { Contract } from "../../contract/index.ts";
import type { DisputeNote } from "../../contract/operations/dispute-notes.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Call, Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  countNotes,
  findNote,
  insertNote,
  removeNote,
  selectNotes,
  updateNote,
} from "../store/dispute-notes.ts";
import type { Db } from "../store/port.ts";
import type { DisputeNoteRow } from "../store/tables.ts";
import { checkDispute } from "./disputes/present.ts";
import { readListing, parsePage } from "./listing.ts";
import { changeFields, creationFields } from "./records.ts";

const toNote = (row: DisputeNoteRow): DisputeNote => ({
  disputeNoteId: row.id,
  tenantId: row.tenant_id,
  disputeId: row.dispute_id,
  content: row.content,
  visibility: row.visibility,
  createUser: row.created_by,
  createDate: formatTimestamp(row.created_at),
  updateUser: row.updated_by,
  updateDate: formatTimestamp(row.updated_at),
});

const answer = (row: DisputeNoteRow) => ({ body: toNote(row), version: row });

type One = { disputeId: string; noteId: string };

const findOr404 = async (db: Db, call: Call, { disputeId, noteId }: One): Promise<DisputeNoteRow> =>
  (await findNote(db, call.tenantId, disputeId, noteId)) ??
  call.fail("not_found", `The dispute has no note ${noteId.slice(0, 100)}.`);

type Needs = { newId: NewId };

type Service = Handlers<Contract["dispute_notes"]>;

const get: Service["get"] = async ({ params }, call) => {
  const row = await findOr404(call.db, call, params);
  return answer(row);
};

const list: Service["list"] = async ({ params, query }, call) => {
  const { disputeId } = params;
  await checkDispute(call.db, call, disputeId);
  const notes = await readListing(call, {
    count: (db) => countNotes(db, call.tenantId, disputeId, query.Visibility),
    select: (db) => selectNotes(db, call.tenantId, disputeId, query.Visibility, query.Sort),
    cost: "sorted",
    shape: toNote,
    page: parsePage(query),
  });
  return { body: notes };
};

const create =
  ({ newId }: Needs): Service["create"] =>
  async ({ params, body }, call) => {
    const row: DisputeNoteRow = {
      tenant_id: call.tenantId,
      id: newId(),
      dispute_id: params.disputeId,
      content: body.content,
      visibility: body.visibility ?? "Internal",
      ...creationFields(call),
    };
    return call.change(async (tx) => {
      await checkDispute(tx, call, params.disputeId);
      await insertNote(tx, row);
      return { ...answer(row), createdId: row.id };
    });
  };

const update: Service["update"] = async ({ params, body }, call) => {
  return call.change(async (tx) => {
    const before = await findOr404(tx, call, params);
    checkIfMatch(call, before);
    const change = {
      content: body.content ?? before.content,
      visibility: body.visibility ?? before.visibility,
    };
    if (change.content === before.content && change.visibility === before.visibility) {
      return answer(before);
    }
    const after: DisputeNoteRow = {
      ...before,
      ...change,
      ...changeFields(before, call),
    };
    await updateNote(tx, before, after);
    return answer(after);
  });
};

const remove: Service["delete"] = async ({ params }, call) => {
  return call.change(async (tx) => {
    const note = await findOr404(tx, call, params);
    checkIfMatch(call, note);
    await removeNote(tx, note);
    return { body: null };
  });
};

export const dispute_notes = (needs: Needs): Service => ({
  get,
  list,
  create: create(needs),
  update,
  delete: remove,
});
