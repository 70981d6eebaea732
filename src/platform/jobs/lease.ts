import type { Clock } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { type Claim, finishJob, renewJob, repeatJob } from "../store/queries/jobs.ts";
import type { Db, Store } from "../store/port.ts";
import type { JobRow } from "../store/tables/schema.ts";
import { type Job, LeaseLost } from "./job.ts";

const RENEWALS_PER_LEASE = 3;

const throwUnlessHeld = async (change: Promise<boolean>): Promise<void> => {
  if (!(await change)) throw new LeaseLost();
};

/** Renews a claim until the returned function is called; aborts `lost` when the claim is gone. */
export const renewLease = (
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  claim: Claim,
  leaseMs: number,
  lost: AbortController,
): (() => void) => {
  const renew = async (): Promise<void> => {
    const until = clock() + leaseMs;
    if (!(await store.transaction((tx) => renewJob(tx, claim, until)))) lost.abort();
  };
  const timer = setInterval(() => {
    renew().catch((error: unknown) => log.warn("job.renew_failed", toErrorFields(error)));
  }, leaseMs / RENEWALS_PER_LEASE);
  timer.unref();
  return () => clearInterval(timer);
};

/** Returns the job of a claimed row; `hasEnded` tells whether it was finished or repeated. */
export const toJob = (row: JobRow, claim: Claim, tries: number, signal: AbortSignal) => {
  let ended = false;
  const job: Job = {
    id: row.id,
    tenantId: row.tenant_id,
    lane: row.lane,
    dueAt: row.due_at,
    tries,
    signal,
    async finish(tx: Db) {
      await throwUnlessHeld(finishJob(tx, claim));
      ended = true;
    },
    async repeat(tx: Db, dueAt: number) {
      await throwUnlessHeld(repeatJob(tx, claim, dueAt));
      ended = true;
    },
  };
  return { job, hasEnded: () => ended };
};
