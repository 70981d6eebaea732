import type { Db } from "../store/port.ts";

/** Somebody else has the job now, or it was taken back: what was done under the old claim must not count. */
export class LeaseLost extends Error {
  constructor() {
    super("the job is no longer this worker's");
    this.name = "LeaseLost";
  }
}

/** A job under way. It ends by `finish` or `again` in the transaction that writes what came of it. */
export type Job = {
  /** The id of the record that it is about. */
  id: string;
  tenantId: string;
  lane: string;
  dueAt: number;
  /** 1 for the first try. A process that dies amid a try has used it up; one that shuts down has not. */
  tries: number;
  /** Aborted when the worker closes or the lease is lost. */
  signal: AbortSignal;
  /** Done for good. Throws LeaseLost, which must undo the transaction. */
  finish(tx: Db): Promise<void>;
  /** To be run again at a moment, its tries counted anew. Throws LeaseLost, which must undo the transaction. */
  again(tx: Db, dueAt: number): Promise<void>;
};

/** What is done with the jobs of a kind. */
export type JobKind = {
  kind: string;
  /** A dead worker's job is taken over after so long; a living one renews its lease in time. */
  leaseMs: number;
  /** How many this process works at once. */
  atOnce: number;
  /** How many of one lane all processes together work at once, so that a slow one holds up only itself. */
  perLane: number;
  /** After so many tries that threw or died, `giveUp` is run instead. */
  maxTries: number;
  /** How long after a try that threw the next one is due. */
  retryMs(tries: number): number;
  run(job: Job): Promise<void>;
  /** Ends the job as well; where it throws, it is run again later. */
  giveUp(job: Job): Promise<void>;
};
