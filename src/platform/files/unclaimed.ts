import { type Clock, DAY, HOUR, MINUTE } from "../../kit/clock.ts";
import { addJob, removeJob } from "../store/jobs.ts";
import type { Db, Store } from "../store/port.ts";
import type { JobKind } from "../jobs/job.ts";
import type { FileStore } from "./port.ts";

const KIND = "files.unclaimed";

/** Long enough for whoever keeps the files to get through. */
const GRACE_MS = HOUR;

type Needs = { store: Store; clock: Clock };

/**
 * To be told before files are kept for a tenant that is not there yet. Unless they are claimed in the transaction
 * that makes the tenant, they are removed: a crash between leaves nothing that stays.
 */
export const announceFiles = (
  { store, clock }: Needs,
  { tenantId, connectionId }: { tenantId: string; connectionId: string },
): Promise<void> =>
  store.transaction((tx) =>
    addJob(tx, {
      kind: KIND,
      id: connectionId,
      tenantId,
      lane: tenantId,
      dueAt: clock() + GRACE_MS,
    }),
  );

/** The tenant is there now, and a sweep knows which of its files are. */
export const claimFiles = (tx: Db, connectionId: string): Promise<void> =>
  removeJob(tx, { kind: KIND, id: connectionId });

/** Removes the files of a connection that nobody has claimed. */
export const unclaimedFiles = ({ store, clock, files }: Needs & { files: FileStore }): JobKind => ({
  kind: KIND,
  leaseMs: MINUTE,
  concurrency: 1,
  perLane: 1,
  maxTries: 5,
  retryMs: (tries) => tries * MINUTE,
  async run(job) {
    for await (const { key } of files.list(job.id)) await files.remove(key);
    await store.transaction((tx) => job.finish(tx));
  },
  giveUp: (job) => store.transaction((tx) => job.repeat(tx, clock() + DAY)),
});
