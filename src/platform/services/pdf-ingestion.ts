import { Problem } from "../../contract/errors.ts";
import type { PlatformContract } from "../../contract/index.ts";
import { pdf_ingestion as declared } from "../../contract/pdf-ingestion.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { dropFiles } from "../files/drop.ts";
import { type FileStore, FileTooLarge } from "../files/port.ts";
import type { StorageQuota } from "../files/quota.ts";
import type { Call, Handlers } from "../handlers.ts";
import type { Scanner } from "../scan/port.ts";
import { deleteAttachments, insertAttachment } from "../store/document-attachments.ts";
import type { DocumentAttachmentRow } from "../store/tables.ts";
import { readTenant } from "../store/tenants.ts";
import { readDocument } from "./ingest/call.ts";
import { readPdf } from "./pdf-ingestion/bytes.ts";
import { checkScan } from "./pdf-ingestion/scanned.ts";

export type PdfIngestionNeeds = {
  files: FileStore;
  newId: NewId;
  log: Log;
  scanner: Scanner;
  quota: StorageQuota;
};

type UploadCall = Call<typeof declared.upload>;

const { maxBytes } = declared.upload.raw;

const createTooLarge = (error: unknown): never => {
  if (!(error instanceof FileTooLarge)) throw error;
  throw new Problem("payload_too_large", `A body may have ${maxBytes} bytes at most.`, {}, error);
};

/** Stores the attachment. Without `append` it replaces the others, whose keys are returned beside the result. */
const record = (
  quota: StorageQuota,
  call: UploadCall,
  row: DocumentAttachmentRow,
  append: boolean,
) =>
  call.change(async (tx) => {
    const { tenantId } = call;
    await readDocument(tx, call, row.document_number);
    const replaced = append ? [] : await deleteAttachments(tx, tenantId, row.document_number);
    await insertAttachment(tx, row);
    await quota.check(tx, tenantId);
    const { document_number, id, file_size: fileSize, uploaded_at } = row;
    const body = { document_number, id, fileSize, uploadedAt: formatTimestamp(uploaded_at) };
    return { body, replaced, audit: { resourceId: id } };
  });

/** Receives PDF files of documents from billing systems. */
export const pdf_ingestion = ({
  files,
  newId,
  log,
  scanner,
  quota,
}: PdfIngestionNeeds): Handlers<PlatformContract["pdf_ingestion"]> => {
  const drop = (keys: readonly string[]): Promise<void> => dropFiles({ files, log }, keys);

  return {
    async upload({ params: { connectionId, document_number }, query: { append }, body }, call) {
      const { db, tenantId } = call;
      const tenant = await readTenant(db, tenantId);
      if (tenant.connection_id !== connectionId) {
        call.fail("not_found", "There is no such connection.");
      }
      await readDocument(db, call, document_number);
      const id = newId();
      const key = `${connectionId}/${id}`;
      const reservation = await quota.reserve(tenantId, 0);
      try {
        const { size, sha256 } = await files
          .put(key, reservation.meter(readPdf(body)), maxBytes)
          .catch(createTooLarge);
        const row = {
          tenant_id: tenantId,
          id,
          document_number,
          file_key: key,
          file_size: size,
          sha256,
          uploaded_by: call.caller.id,
          uploaded_at: call.now,
        };
        try {
          await checkScan({ files, scanner, log }, { key, size });
          const { replaced, ...result } = await record(quota, call, row, append === "true");
          await drop(replaced);
          return result;
        } catch (error) {
          // After any other error the transaction may have committed; then the record needs its file.
          if (error instanceof Problem) await drop([key]);
          throw error;
        }
      } finally {
        reservation.release();
      }
    },
  };
};
