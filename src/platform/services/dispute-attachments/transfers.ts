import { Problem } from "../../../contract/errors.ts";
import { findExtension, FILE_TYPES, MAX_FILE_BYTES } from "../../../contract/file-types.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { NewId } from "../../../kit/ids.ts";
import type { Log } from "../../../kit/log.ts";
import { readArriving } from "../../files/arriving.ts";
import { dropFiles } from "../../files/drop.ts";
import { type FileStore, FileTooLarge, type KeptFile, type Span } from "../../files/port.ts";
import type { StorageQuota } from "../../files/quota.ts";
import type { Claim, Grant, SignedUrls } from "../../files/signed-urls.ts";
import type { FileAnswer } from "../../handlers.ts";
import { appendEntries } from "../../store/audit/chain.ts";
import type { NewEntry } from "../../store/audit/entries.ts";
import {
  findSignedAttachment,
  updateDisputeAttachment,
} from "../../store/queries/dispute-attachments.ts";
import type { Store } from "../../store/port.ts";
import type { DisputeAttachmentRow } from "../../store/tables/schema.ts";
import { readTenant } from "../../store/queries/tenants.ts";
import { planAttachment } from "./job.ts";

export type TransferNeeds = {
  store: Store;
  files: FileStore;
  clock: Clock;
  newId: NewId;
  log: Log;
  signedUrls: SignedUrls;
  quota: StorageQuota;
  /** Called when a file waits for its scan. */
  wake(): void;
  /** Writes the audit entry of a download; undefined where reads have none. */
  recordRead: ((entry: NewEntry) => Promise<void>) | undefined;
};

type Row = DisputeAttachmentRow;

/** A file in a request. */
export type Sent = {
  /** Content-Length in bytes; undefined if the request has none. */
  size: number | undefined;
  body: ReadableStream<Uint8Array>;
};

/** Chooses from a file of this size and ETag; undefined: all of it. */
type ChooseSpan = (size: number, etag: string) => Span | undefined;

/** Transfers of dispute files. The signed URL is the only credential. */
export type Transfers = {
  /** Receives the file; a URL takes one file. */
  upload(id: string, claim: Claim, sent: Sent): Promise<void>;
  /** Opens the file, or the span of it that `chooseSpan` returns. */
  download(id: string, claim: Claim, chooseSpan: ChooseSpan): Promise<FileAnswer>;
};

// Every refusal is the same, so that a caller cannot learn which ids exist.
const createRefusal = (method: Grant["method"]): Problem =>
  new Problem(
    "signed_url_refused",
    method === "PUT"
      ? "The upload URL is altered or has expired; create the attachment again for another."
      : "The download URL is altered or has expired; read the attachment again for another.",
  );

const createTaken = (): Problem =>
  new Problem("conflict", "The file has been uploaded; an upload URL takes one file.");

const createUnderWay = (): Problem =>
  new Problem("conflict", "Another upload to this URL is under way. Wait until it has ended.");

const cutOff = (): never => {
  throw new Problem("invalid_request", "The body ended before it was whole.");
};

const createTooLarge = (): Problem =>
  new Problem("payload_too_large", `A file may have ${MAX_FILE_BYTES} bytes at most.`);

const checkSize = (size: number | undefined): number => {
  if (size === undefined) {
    throw new Problem("length_required", "Send the file with a Content-Length.");
  }
  if (size > MAX_FILE_BYTES) throw createTooLarge();
  return size;
};

const findGranted = async (
  { store, signedUrls, clock }: TransferNeeds,
  { method, id, claim }: { method: Grant["method"]; id: string; claim: Claim },
): Promise<Row> => {
  // PostgreSQL takes no NUL in text.
  const row = id.includes("\0") ? undefined : await findSignedAttachment(store.read, id);
  if (row && signedUrls.holds({ method, tenantId: row.tenant_id, id }, claim, clock())) return row;
  throw createRefusal(method);
};

const storeFile = async (
  needs: TransferNeeds,
  key: string,
  { body }: Sent,
  size: number,
): Promise<KeptFile> => {
  const bytes = readArriving(body, cutOff);
  const stored = await needs.files.put(key, bytes, size).catch((error: unknown) => {
    throw error instanceof FileTooLarge ? createTooLarge() : error;
  });
  if (stored.size === size) return stored;
  await dropFiles(needs, [key]);
  return cutOff();
};

const UPLOADED = {
  method: "PUT",
  endpoint: "/uploads/{uploadId}",
  action: "dispute_attachment.uploaded",
  statusCode: 204,
};
const DOWNLOADED = {
  method: "GET",
  endpoint: "/downloads/{attachmentId}",
  action: "dispute_attachment.downloaded",
};

const describeTransfer = <Kind>(row: Row, kind: Kind) => ({
  ...kind,
  tenantId: row.tenant_id,
  metadata: { disputeId: row.dispute_id, attachmentId: row.id, resourceId: row.id },
});

/** Records the file and plans its scan. An upload that began before its URL expired may end after that. */
const recordFile = (
  { store, clock, newId, quota }: TransferNeeds,
  row: Row,
  key: string,
  { size, sha256 }: KeptFile,
): Promise<void> =>
  store.transaction(async (tx) => {
    const present = await findSignedAttachment(tx, row.id);
    if (present === undefined) throw createRefusal("PUT");
    if (present.uploaded_at !== null) throw createTaken();
    const now = clock();
    await updateDisputeAttachment(tx, row, {
      status: "PendingScan",
      failure_reasons: "[]",
      uploaded_at: now,
      file_key: key,
      file_size: size,
      sha256,
      version: present.version + 1,
    });
    await quota.check(tx, row.tenant_id);
    await planAttachment(tx, row, now);
    // The signed URL is that of the person who created the attachment.
    const uploaded = { ...describeTransfer(row, UPLOADED), id: newId(), at: now };
    const metadata = { ...uploaded.metadata, actor: row.created_by };
    await appendEntries(tx, store.auditKey, [{ ...uploaded, metadata }]);
  }, row.tenant_id);

/** Stores and records the file. The quota counts its announced size from the start. */
const receive = async (needs: TransferNeeds, row: Row, sent: Sent, size: number): Promise<void> => {
  const { store, newId, quota } = needs;
  const reservation = await quota.reserve(row.tenant_id, size);
  try {
    const { connection_id } = await readTenant(store.read, row.tenant_id);
    const key = `${connection_id}/disputes/${newId()}`;
    const stored = await storeFile(needs, key, sent, size);
    await recordFile(needs, row, key, stored).catch(async (error: unknown) => {
      // After any other error the transaction may have committed; then the record needs its file.
      if (error instanceof Problem) await dropFiles(needs, [key]);
      throw error;
    });
  } finally {
    reservation.release();
  }
};

/** Creates the uploads and downloads of dispute attachments by signed URLs. */
export const createTransfers = (needs: TransferNeeds): Transfers => {
  /** The attachments whose upload is under way in this process. */
  const arrivals = new Set<string>();
  return {
    async upload(id, claim, sent) {
      const row = await findGranted(needs, { method: "PUT", id, claim });
      if (row.uploaded_at !== null) throw createTaken();
      const size = checkSize(sent.size);
      if (arrivals.has(id)) throw createUnderWay();
      arrivals.add(id);
      try {
        await receive(needs, row, sent, size);
      } finally {
        arrivals.delete(id);
      }
      needs.wake();
    },

    async download(id, claim, chooseSpan) {
      const row = await findGranted(needs, { method: "GET", id, claim });
      if (row.status !== "Available" || row.file_key === null) throw createRefusal("GET");
      const fileSize = row.file_size ?? 0;
      const etag = `"${row.sha256}"`;
      const span = chooseSpan(fileSize, etag);
      const file = await needs.files.open(row.file_key, span);
      if (file === undefined) {
        // A deletion removes the record before the file.
        if ((await findSignedAttachment(needs.store.read, id)) === undefined)
          throw createRefusal("GET");
        throw new Error(`the file of attachment ${id} is lost`);
      }
      const entry = {
        id: needs.newId(),
        at: needs.clock(),
        statusCode: span === undefined ? 200 : 206,
      };
      // It names no actor: the URL tells only that a person who could read the dispute passed it on.
      await needs
        .recordRead?.({ ...describeTransfer(row, DOWNLOADED), ...entry })
        .catch(async (error: unknown) => {
          await file.bytes.cancel();
          throw error;
        });
      const extension = findExtension(row.file_name);
      const mimeType = extension === undefined ? "application/octet-stream" : FILE_TYPES[extension];
      return { fileName: row.file_name, mimeType, fileSize, span, etag, bytes: file.bytes };
    },
  };
};
