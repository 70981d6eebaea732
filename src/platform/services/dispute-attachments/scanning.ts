import { untilAbort } from "../../../kit/abort.ts";
import { type Clock, SECOND } from "../../../kit/clock.ts";
import { toErrorFields, type Log } from "../../../kit/log.ts";
import { dropFiles } from "../../files/drop.ts";
import { selectOwnFiles } from "../../files/owner.ts";
import type { FileStore } from "../../files/port.ts";
import type { Scanner, Verdict } from "../../scan/port.ts";
import {
  findSignedAttachment,
  updateDisputeAttachment,
} from "../../store/queries/dispute-attachments.ts";
import { type Store, StoreUnavailable } from "../../store/port.ts";
import type { DisputeAttachmentRow } from "../../store/tables/schema.ts";
import type { Job, JobKind } from "../../jobs/job.ts";
import { ATTACHMENT_JOB } from "./job.ts";

export type ScanningNeeds = {
  store: Store;
  files: FileStore;
  scanner: Scanner;
  clock: Clock;
  log: Log;
};

type Row = DisputeAttachmentRow;
type Outcome = {
  status: Row["status"];
  failureReasons: readonly { code: string; message: string }[];
  warnings?: readonly { code: string; message: string }[];
};

const EXPIRED: Outcome = {
  status: "Expired",
  failureReasons: [{ code: "UPLOAD_EXPIRED", message: "No file was uploaded in time." }],
};
const FAILED: Outcome = {
  status: "Failed",
  failureReasons: [{ code: "SCAN_ERROR", message: "The file could not be scanned." }],
};

const toOutcome = (verdict: Verdict): Outcome =>
  verdict.status === "Available" ? { ...verdict, failureReasons: [] } : verdict;

const TRIES = 3;
const RETRY_MS = 5 * SECOND;
const LEASE_MS = 60 * SECOND;
const AFTER_OUTAGE_MS = 15 * SECOND;

/**
 * Writes the outcome; removes the file unless it is available. If the job's lease was lost, the transaction rolls
 * back.
 */
const settle = async (
  { store, files, log }: ScanningNeeds,
  job: Job,
  row: Row,
  outcome: Outcome,
): Promise<void> => {
  const { status, failureReasons, warnings = [] } = outcome;
  const isAvailable = status === "Available";
  await store.transaction(async (tx) => {
    const present = await findSignedAttachment(tx, row.id);
    await updateDisputeAttachment(tx, row, {
      status,
      failure_reasons: JSON.stringify(failureReasons),
      scan_warnings: JSON.stringify(warnings),
      version: (present ?? row).version + 1,
      ...(isAvailable ? {} : { file_key: null }),
    });
    await job.finish(tx);
  }, job.tenantId);
  log.info("attachment.settled", { attachmentId: row.id, status });
  if (!isAvailable && row.file_key !== null) await dropFiles({ files, log }, [row.file_key]);
};

/** Scans the file of an attachment, or marks the attachment as failed if no file was uploaded in time. */
export const createScanningJob = (needs: ScanningNeeds): JobKind => {
  const { store, files, scanner, clock, log } = needs;
  const scan = (row: Row, key: string): Promise<Verdict> =>
    scanner.scan({
      fileName: row.file_name,
      size: row.file_size ?? 0,
      async open() {
        const file = await files.open(key);
        if (file === undefined) throw new Error(`the file of attachment ${row.id} is lost`);
        return file.bytes;
      },
    });

  /** Returns the attachment of the job; undefined where it is gone, or another tenant's, so that the job has ended. */
  const read = async (job: Job): Promise<Row | undefined> => {
    const found = await findSignedAttachment(store.read, job.id);
    const row = found?.tenant_id === job.tenantId ? found : undefined;
    if (row === undefined) {
      await store.transaction((tx) => job.finish(tx), job.tenantId);
      return undefined;
    }
    const keys = row.file_key === null ? [] : [row.file_key];
    const [file_key = null] = await selectOwnFiles(store.read, job.tenantId, keys);
    return { ...row, file_key };
  };

  return {
    kind: ATTACHMENT_JOB,
    leaseMs: LEASE_MS,
    concurrency: 2,
    // A tenant has at most one of the two slots, so that others never wait for all of its files.
    perLane: 1,
    maxTries: TRIES,
    retryMs: (tries) => tries * RETRY_MS,
    async run(job) {
      const row = await read(job);
      if (row === undefined) return;
      if (row.file_key === null) return settle(needs, job, row, EXPIRED);
      try {
        const verdict = await untilAbort(scan(row, row.file_key), job.signal);
        return await settle(needs, job, row, toOutcome(verdict));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // It says nothing about the file, so it uses up no try: after the last one the file would be removed.
        log.warn("attachment.not_scanned", { attachmentId: row.id, ...toErrorFields(error) });
        return await store.transaction(
          (tx) => job.repeat(tx, clock() + AFTER_OUTAGE_MS),
          job.tenantId,
        );
      }
    },
    async giveUp(job) {
      const row = await read(job);
      if (row !== undefined)
        await settle(needs, job, row, row.file_key === null ? EXPIRED : FAILED);
    },
  };
};
