import type { Contract } from "../../contract/index.ts";
import type { DisputeAttachment } from "../../contract/operations/dispute-attachments.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { dropFiles } from "../files/drop.ts";
import type { FileStore } from "../files/port.ts";
import type { SignedUrls } from "../files/signed-urls.ts";
import type { Call, Handlers } from "../handlers.ts";
import { checkIfMatch } from "../preconditions.ts";
import {
  countDisputeAttachments,
  findDisputeAttachment,
  selectDisputeAttachments,
  updateDisputeAttachment,
} from "../store/queries/dispute-attachments.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db } from "../store/port.ts";
import type { DisputeAttachmentRow } from "../store/tables/schema.ts";
import { planAttachment, removeAttachments } from "./dispute-attachments/job.ts";
import { checkDispute } from "./disputes/present.ts";
import { readListing } from "./listing.ts";
import { auditFields, changeFields, creationFields, shorten } from "./records.ts";

/** Validity of signed URLs, in milliseconds. */
export type UrlLives = { upload: number; download: number };

export type DisputeAttachmentNeeds = {
  files: FileStore;
  newId: NewId;
  log: Log;
  signedUrls: SignedUrls;
  lives: UrlLives;
};

type Row = DisputeAttachmentRow;

const toAttachment = (row: Row, downloadUrl: string | null): DisputeAttachment => ({
  attachmentId: row.id,
  tenantId: row.tenant_id,
  disputeId: row.dispute_id,
  fileName: row.file_name,
  downloadUrl,
  uploadId: row.id,
  status: row.status,
  visibility: row.visibility,
  attachmentStorageKey: `${row.tenant_id}/${row.dispute_id}/${row.id}`,
  failureReasons: JSON.parse(row.failure_reasons) as unknown[],
  warnings: JSON.parse(row.scan_warnings ?? "[]") as unknown[],
  ...auditFields(row),
});

const toVisibility = ({ id, dispute_id, visibility }: Row) => ({
  attachmentId: id,
  disputeId: dispute_id,
  visibility,
});

type One = { disputeId: string; attachmentId: string };

const findOr404 = async (db: Db, call: Call, one: One): Promise<Row> =>
  (await findDisputeAttachment(db, call.tenantId, one)) ??
  call.fail("not_found", `The dispute has no attachment ${shorten(one.attachmentId)}.`);

type Service = Handlers<Contract["dispute_attachments"]>;

const get =
  ({ signedUrls, lives }: DisputeAttachmentNeeds): Service["get"] =>
  async ({ params }, call) => {
    const row = await findOr404(call.db, call, params);
    if (row.status !== "Available") return { body: toAttachment(row, ""), version: row };
    const grant = { method: "GET", tenantId: row.tenant_id, id: row.id } as const;
    const base = await call.baseUrl();
    const downloadUrl = signedUrls.urlOf(base, grant, call.now + lives.download);
    return { body: toAttachment(row, downloadUrl), version: row };
  };

const list: Service["list"] = async ({ params: { disputeId }, query: { Visibility } }, call) => {
  await checkDispute(call.db, call, disputeId);
  const attachments = await readListing(call, {
    count: (db) => countDisputeAttachments(db, call.tenantId, disputeId, Visibility),
    select: (db) => selectDisputeAttachments(db, call.tenantId, disputeId, Visibility),
    cost: "sorted",
    shape: (row: Row) => toAttachment(row, null),
    page: undefined,
  });
  return { body: attachments };
};

const create =
  ({ newId, signedUrls, lives }: DisputeAttachmentNeeds): Service["create"] =>
  async ({ params: { disputeId }, body }, call) => {
    const expiresAt = call.now + lives.upload;
    const row: Row = {
      tenant_id: call.tenantId,
      id: newId(),
      dispute_id: disputeId,
      file_name: body.fileName,
      visibility: body.visibility ?? "Internal",
      status: "PendingScan",
      failure_reasons: "[]",
      scan_warnings: null,
      upload_expires_at: expiresAt,
      uploaded_at: null,
      file_key: null,
      file_size: null,
      sha256: null,
      ...creationFields(call),
    };
    const grant = { method: "PUT", tenantId: call.tenantId, id: row.id } as const;
    const uploadUrl = signedUrls.urlOf(await call.baseUrl(), grant, expiresAt);
    return call.change(async (tx) => {
      await checkDispute(tx, call, disputeId);
      await insertAll(tx, "dispute_attachments", [row]);
      await planAttachment(tx, row, expiresAt);
      const answer = { uploadId: row.id, uploadUrl, attachmentId: row.id };
      return { body: answer, version: row, createdId: row.id };
    });
  };

const update: Service["update"] = async ({ params, body: { visibility } }, call) => {
  return call.change(async (tx) => {
    const before = await findOr404(tx, call, params);
    checkIfMatch(call, before);
    if (visibility === undefined || visibility === before.visibility) {
      return { body: toVisibility(before), version: before };
    }
    const change = { visibility, ...changeFields(before, call) };
    await updateDisputeAttachment(tx, before, change);
    const row = { ...before, ...change };
    return { body: toVisibility(row), version: row };
  });
};

const remove =
  ({ files, log }: DisputeAttachmentNeeds): Service["delete"] =>
  async ({ params }, call) => {
    const { keys, ...result } = await call.change(async (tx) => {
      const row = await findOr404(tx, call, params);
      checkIfMatch(call, row);
      return { body: null, keys: await removeAttachments(tx, [row]) };
    });
    await dropFiles({ files, log }, keys);
    return result;
  };

/** Handlers of dispute attachments. Their files are transferred by signed URLs. */
export const dispute_attachments = (needs: DisputeAttachmentNeeds): Service => ({
  get: get(needs),
  list,
  create: create(needs),
  update,
  delete: remove(needs),
});
