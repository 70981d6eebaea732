import { setImmediate } from "node:timers/promises";
import { type Clock, DAY, MINUTE } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import { dropFiles } from "../../files/drop.ts";
import { selectOwnFiles } from "../../files/owner.ts";
import type { FileStore } from "../../files/port.ts";
import type { JobKind } from "../../jobs/job.ts";
import { selectAttachmentsToRemove } from "../../store/queries/dispute-attachments.ts";
import { removeNotes } from "../../store/queries/dispute-notes.ts";
import { addJob } from "../../store/queries/jobs.ts";
import type { Db, Store } from "../../store/port.ts";
import { removeAttachments } from "../dispute-attachments/job.ts";

const KIND = "disputes.removal";

// SQLite runs a step on the event loop; with cold pages, these take about 20 ms.
const NOTES_PER_STEP = 500;
const ATTACHMENTS_PER_STEP = 100;

/** Removes a bounded number of a deleted dispute's notes and attachments; returns the keys of their files. */
const removeSome = async (tx: Db, tenantId: string, disputeId: string) => {
  const rows = await selectAttachmentsToRemove(tx, tenantId, disputeId, ATTACHMENTS_PER_STEP);
  const keys = await removeAttachments(tx, rows);
  const notes = await removeNotes(tx, tenantId, disputeId, NOTES_PER_STEP);
  return { isDone: rows.length < ATTACHMENTS_PER_STEP && notes < NOTES_PER_STEP, keys };
};

/** Plans the removal of what a deleted dispute has left. */
export const planRemoval = (
  tx: Db,
  { tenantId, now }: { tenantId: string; now: number },
  disputeId: string,
): Promise<void> => addJob(tx, { kind: KIND, id: disputeId, tenantId, lane: tenantId, dueAt: now });

/**
 * Removes the notes and attachments of a deleted dispute: the first ones now, the rest in a job. Returns the keys of
 * the files to drop after the transaction.
 */
export const removeContents = async (
  tx: Db,
  tenant: { tenantId: string; now: number },
  disputeId: string,
): Promise<string[]> => {
  const { isDone, keys } = await removeSome(tx, tenant.tenantId, disputeId);
  if (!isDone) await planRemoval(tx, tenant, disputeId);
  return keys;
};

/** Creates the job that removes what a deleted dispute has left. */
export const createRemovalJob = ({
  store,
  clock,
  files,
  log,
}: {
  store: Store;
  clock: Clock;
  files: FileStore;
  log: Log;
}): JobKind => ({
  kind: KIND,
  leaseMs: MINUTE,
  concurrency: 2,
  perLane: 1,
  maxTries: 5,
  retryMs: (tries) => tries * MINUTE,
  async run(job) {
    for (let isDone = false; !isDone;) {
      job.signal.throwIfAborted();
      // Short transactions, so that other writers get their turn.
      const removed = await store.transaction(async (tx) => {
        const some = await removeSome(tx, job.tenantId, job.id);
        if (some.isDone) await job.finish(tx);
        return { ...some, keys: await selectOwnFiles(tx, job.tenantId, some.keys) };
      }, job.tenantId);
      await dropFiles({ files, log }, removed.keys);
      await setImmediate();
      ({ isDone } = removed);
    }
  },
  giveUp: (job) => store.transaction((tx) => job.repeat(tx, clock() + DAY)),
});
