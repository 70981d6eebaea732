import { type Clock, SECOND } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import {
  type Claim,
  claimJob,
  findDueJobs,
  findDueKinds,
  postponeJob,
  recordTurns,
  releaseJob,
} from "../store/queries/jobs.ts";
import type { Store } from "../store/port.ts";
import type { JobRow } from "../store/tables/schema.ts";
import { type JobKind, LeaseLost } from "./job.ts";
import { renewLease, toJob } from "./lease.ts";

/** Runs due jobs: those that this process added, and those that other processes left. */
export type Worker = {
  /** Polls for due jobs from now on: each second, and at once when woken. */
  start(): void;
  /** Polls at once. Call it after the transaction that added a job; it has no effect before `start`. */
  wake(): void;
  /** Runs all due jobs, including those that become due meanwhile, and resolves when none is left. */
  runDue(): Promise<void>;
  /** Claims no more jobs, aborts the running ones and releases those that did not end. */
  close(): Promise<void>;
};

export type WorkerNeeds = { store: Store; clock: Clock; log: Log };

const POLL_MS = SECOND;

/**
 * A search costs more the more lanes there are. While many calls to receivers end, searches may take this share of the
 * time at most: one after each call took most of it.
 */
const SEARCHING_SHARE = 1 / 10;

class JobWorker implements Worker {
  readonly #needs: WorkerNeeds;
  readonly #kinds: readonly JobKind[];
  readonly #running: ReadonlyMap<string, Set<Promise<void>>>;
  readonly #closing = new AbortController();
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  /** Whether the last poll failed. */
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  #refill: NodeJS.Timeout | undefined;
  /** How long the last search for due jobs took, in milliseconds. */
  #searchMs = 0;

  constructor(needs: WorkerNeeds, kinds: readonly JobKind[]) {
    this.#needs = needs;
    this.#kinds = kinds;
    this.#running = new Map(kinds.map(({ kind }) => [kind, new Set<Promise<void>>()]));
  }

  start(): void {
    this.#timer ??= setInterval(() => this.wake(), POLL_MS).unref();
    this.wake();
  }

  wake(): void {
    if (this.#timer === undefined || this.#closing.signal.aborted) return;
    this.#pollAgain = true;
    this.#polling ??= this.#poll();
  }

  async runDue(): Promise<void> {
    for (;;) {
      // Listed before the poll: a job that ends during the poll may free a slot that the poll did not see.
      const running = this.#allRunning();
      const claimed = await this.#claimAll();
      if (claimed === 0 && running.length === 0) return;
      if (claimed === 0) await Promise.race(running);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    clearTimeout(this.#refill);
    await this.#polling;
    await Promise.all(this.#allRunning());
  }

  #runningOf({ kind }: JobKind): Set<Promise<void>> {
    return this.#running.get(kind) ?? new Set();
  }

  #allRunning(): Promise<void>[] {
    return [...this.#running.values()].flatMap((set) => [...set]);
  }

  /** Polls once for all jobs that end meanwhile. */
  #wakeSoon(): void {
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      this.wake();
    }, this.#searchMs / SEARCHING_SHARE).unref();
  }

  async #poll(): Promise<void> {
    try {
      do {
        this.#pollAgain = false;
        // Repeats the poll if it was woken meanwhile.
        await this.#claimAll();
      } while (this.#pollAgain && !this.#closing.signal.aborted);
      if (this.#hasFailed) this.#needs.log.info("jobs.restored");
      this.#hasFailed = false;
    } catch (error) {
      // Once for an outage: every node asks each second.
      this.#needs.log[this.#hasFailed ? "debug" : "warn"]("jobs.unavailable", toErrorFields(error));
      this.#hasFailed = true;
    }
    this.#polling = undefined;
  }

  async #claimAll(): Promise<number> {
    const { store, clock } = this.#needs;
    const names = this.#kinds.map(({ kind }) => kind);
    // One query while nothing is due, however many kinds there are: every node asks each second.
    const due = await findDueKinds(store.read, names, clock());
    const kinds = this.#kinds.filter(({ kind }) => due.has(kind));
    const counts = await Promise.all(kinds.map((kind) => this.#claimDue(kind)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Claims and starts as many due jobs as there are free slots; returns their number. */
  async #claimDue(kind: JobKind): Promise<number> {
    const { store, clock } = this.#needs;
    const atMost = kind.concurrency - this.#runningOf(kind).size;
    if (atMost <= 0) return 0;
    const due = { kind: kind.kind, now: clock(), perLane: kind.perLane, atMost };
    const began = performance.now();
    const found = await findDueJobs(store.read, due);
    this.#searchMs = performance.now() - began;
    if (found.length === 0) return 0;
    const lease = randomToken();
    // Read again in the transaction queue of the kind, so that two processes do not exceed a lane's limit together.
    const claimed = await store.transaction(async (tx) => {
      const rows: JobRow[] = [];
      for (const row of await findDueJobs(tx, due)) {
        if (await claimJob(tx, row, lease, due.now + kind.leaseMs)) rows.push(row);
      }
      if (rows.length > 0) await recordTurns(tx, due, rows);
      return rows;
    }, `jobs of kind ${kind.kind}`);
    for (const row of claimed) this.#begin(kind, row, lease);
    return claimed.length;
  }

  #begin(kind: JobKind, row: JobRow, lease: string): void {
    const running = this.#runningOf(kind);
    const claim = { kind: row.kind, id: row.id, lease };
    // If neither the result nor the failure can be written, the claim expires and the job is taken over.
    const done = this.#run(kind, row, claim)
      .catch((error: unknown) =>
        this.#needs.log.error("job.lost", { kind: row.kind, ...toErrorFields(error) }),
      )
      .finally(() => {
        running.delete(done);
        // The last of the running jobs has no other one to wait for.
        if (running.size === 0) this.wake();
        else this.#wakeSoon();
      });
    running.add(done);
  }

  async #run(kind: JobKind, row: JobRow, claim: Claim): Promise<void> {
    const tries = row.tries + 1;
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, this.#closing.signal]);
    const stopRenewing = renewLease(this.#needs, claim, kind.leaseMs, lost);
    try {
      const { job, hasEnded } = toJob(row, claim, tries, signal);
      await (tries > kind.maxTries ? kind.giveUp(job) : kind.run(job));
      if (!hasEnded()) {
        throw new Error(`a job of kind ${kind.kind} was neither finished nor repeated`);
      }
    } catch (error) {
      await this.#afterFailure(kind, claim, tries, error);
    } finally {
      stopRenewing();
    }
  }

  async #afterFailure(kind: JobKind, claim: Claim, tries: number, error: unknown): Promise<void> {
    const { store, clock, log } = this.#needs;
    if (error instanceof LeaseLost) return;
    if (this.#closing.signal.aborted) {
      await store.transaction((tx) => releaseJob(tx, claim));
      return;
    }
    log.warn("job.failed", { kind: kind.kind, id: claim.id, tries, ...toErrorFields(error) });
    await store.transaction((tx) => postponeJob(tx, claim, clock() + kind.retryMs(tries)));
  }
}

export const createWorker = (needs: WorkerNeeds, kinds: readonly JobKind[]): Worker =>
  new JobWorker(needs, kinds);
