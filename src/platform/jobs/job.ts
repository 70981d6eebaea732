import type { Db } from "../store/port.ts";

/** Thrown when the worker's claim on a job has expired or was taken over; its transaction must roll back. */
export class LeaseLost extends Error {
  constructor() {
    super("the worker no longer holds the job's lease");
    this.name = "LeaseLost";
  }
}

/** A claimed job. It ends with `finish` or `repeat`, in the transaction that writes its result. */
export type Job = {
  /** The id of the record that the job is about. */
  id: string;
  tenantId: string;
  lane: string;
  /** Epoch milliseconds. */
  dueAt: number;
  /** 1 for the first try. A crash of the process uses up a try, a shutdown does not. */
  tries: number;
  /** Aborted when the worker closes or the lease is lost. */
  signal: AbortSignal;
  /** Deletes the job. @throws {LeaseLost} which must roll back the transaction */
  finish(tx: Db): Promise<void>;
  /** Schedules the job again and resets its tries. @throws {LeaseLost} which must roll back the transaction */
  repeat(tx: Db, dueAt: number): Promise<void>;
};

/** A kind of job and how it runs. */
export type JobKind = {
  kind: string;
  /** Lifetime of a claim in milliseconds. A running worker renews it; a crashed worker's job is taken over after it. */
  leaseMs: number;
  /** The largest number of jobs that this process runs concurrently. */
  concurrency: number;
  /** The largest number of jobs of one lane that all processes together run, so that a slow lane delays only itself. */
  perLane: number;
  /** After this many tries that threw or crashed, `giveUp` runs instead of `run`. */
  maxTries: number;
  /** Milliseconds from a failed try to the next. */
  retryMs(tries: number): number;
  run(job: Job): Promise<void>;
  /** Must end the job too; if it throws, it runs again later. */
  giveUp(job: Job): Promise<void>;
};
