import { Problem } from "../../contract/errors.ts";
import type { PlatformContract } from "../../contract/index.ts";
import { pdf_ingestion as declared } from "../../contract/pdf-ingestion.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { readArriving } from "../files/arriving.ts";
import { dropFiles } from "../files/drop.ts";
import { type FileStore, FileTooLarge } from "../files/port.ts";
import type { StorageQuota } from "../files/quota.ts";
import type { Call, Handlers } from "../handlers.ts";
import type { Scanner, Verdict } from "../scan/port.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { deleteAttachments } from "../store/queries/document-attachments.ts";
import type { DocumentAttachmentRow } from "../store/tables/schema.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { readDocument } from "./ingest/call.ts";

export type PdfIngestionNeeds = {
  files: FileStore;
  newId: NewId;
  log: Log;
  scanner: Scanner;
  quota: StorageQuota;
};

const HEAD = Buffer.from("%PDF-");
const END = Buffer.from("%%EOF");
// PDF readers look for the header in the first KiB and for the end marker in the last one.
const HEAD_BYTES = 1024;
const TAIL_BYTES = 1024;

const refuse = (code: string, message: string): never => {
  throw new Problem("invalid_request", `The body ${message}.`, {
    errors: [{ field: "", code, message }],
  });
};

/** Returns the last `TAIL_BYTES` bytes received so far. */
const keepTail = (tail: Buffer, chunk: Uint8Array): Buffer =>
  chunk.byteLength >= TAIL_BYTES
    ? Buffer.from(chunk.subarray(-TAIL_BYTES))
    : Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);

const cutOff = (): never => refuse("format", "ended before it was whole");

const checkHead = (head: Buffer): void => {
  if (!head.includes(HEAD)) refuse("format", `must have %PDF- in its first ${HEAD_BYTES} bytes`);
};

/** Yields a request body, and refuses it as soon as it is not a PDF. */
async function* readPdf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of readArriving(body, cutOff)) {
    if (head.byteLength < HEAD_BYTES) {
      head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.byteLength)]);
      if (head.byteLength === HEAD_BYTES) checkHead(head);
    }
    tail = keepTail(tail, chunk);
    yield chunk;
  }
  if (head.byteLength === 0) refuse("empty", "must not be empty");
  checkHead(head);
  if (!tail.includes(END)) refuse("format", "must end with %%EOF");
}

type ScanNeeds = Pick<PdfIngestionNeeds, "files" | "scanner" | "log">;

const RETRY_SECONDS = 10;

const scan = async (
  { files, scanner, log }: ScanNeeds,
  { key, size }: { key: string; size: number },
): Promise<Verdict> => {
  const open = async (): Promise<ReadableStream<Uint8Array>> => {
    const file = await files.open(key);
    if (file === undefined) throw new Error("the file to scan is lost");
    return file.bytes;
  };
  try {
    return await scanner.scan({ fileName: "document.pdf", size, open });
  } catch (error) {
    log.warn("scan.failed", toErrorFields(error));
    const details = { retryAfterSeconds: RETRY_SECONDS };
    throw new Problem("unavailable", "The file cannot be scanned now.", details, error);
  }
};

/** Scans a file before it is stored. @throws {Problem} if the scanner refuses it */
const checkScan = async (needs: ScanNeeds, file: { key: string; size: number }): Promise<void> => {
  const verdict = await scan(needs, file);
  if (verdict.status === "Available") return;
  throw new Problem("invalid_request", "The body is refused by the scanner.", {
    errors: verdict.failureReasons.map(({ code, message }) => ({
      field: "",
      code: code.toLowerCase(),
      message,
    })),
  });
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
    await insertAll(tx, "document_attachments", [row]);
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
