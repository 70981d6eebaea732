import { type Clock, DAY, HOUR, MINUTE } from "../../kit/clock.ts";
import { addJob, removeJob } from "../store/queries/jobs.ts";
import type { Db, Store } from "../store/port.ts";
import { findTenantOfConnection } from "../store/queries/tenants.ts";
import type { JobKind } from "../jobs/job.ts";
import type { FileStore } from "./port.ts";

const KIND = "files.unclaimed";

/** Longer than the creation of a tenant takes. */
const GRACE_MS = HOUR;

type Needs = { store: Store; clock: Clock };

/**
 * Must be called before files are stored for a tenant that does not exist yet. The files are removed later unless the
 * transaction that creates the tenant claims them, so a crash leaves none behind.
 */
export const announceFiles = (
  { store, clock }: Needs,
  { tenantId, connectionId }: { tenantId: string; connectionId: string },
): Promise<void> =>
  store.transaction((tx) => abandonFiles(tx, { tenantId, connectionId, now: clock() }));

/** Plans the removal of the files of a tenant that does not exist, which requests may still be storing. */
export const abandonFiles = async (
  tx: Db,
  { tenantId, connectionId, now }: { tenantId: string; connectionId: string; now: number },
): Promise<void> => {
  await claimFiles(tx, connectionId);
  await addJob(tx, {
    kind: KIND,
    id: connectionId,
    tenantId,
    lane: tenantId,
    dueAt: now + GRACE_MS,
  });
};

/** The tenant exists now, so the sweep knows which of its files are in use. */
export const claimFiles = (tx: Db, connectionId: string): Promise<void> =>
  removeJob(tx, { kind: KIND, id: connectionId });

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

/** Whether a text can be the connection of a tenant, which the keys of its files begin with. */
export const isConnectionId = (id: string): boolean => UUID.test(id);

/** Removes the files of a connection that were not claimed. */
export const createUnclaimedFilesJob = ({
  store,
  clock,
  files,
}: Needs & { files: FileStore }): JobKind => ({
  kind: KIND,
  leaseMs: MINUTE,
  concurrency: 1,
  perLane: 1,
  maxTries: 5,
  retryMs: (tries) => tries * MINUTE,
  async run(job) {
    // A tenant that was deleted may have been imported again, with the same connection.
    const tenantId = await findTenantOfConnection(store.read, job.id);
    // No other name may be a job's: the file store has files of its own.
    if (tenantId === undefined && isConnectionId(job.id))
      for await (const { key } of files.list(job.id)) await files.remove(key);
    await store.transaction((tx) => job.finish(tx));
  },
  giveUp: (job) => store.transaction((tx) => job.repeat(tx, clock() + DAY)),
});
