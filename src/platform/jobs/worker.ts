import { type Clock, SECOND } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { errorFields, type Log } from "../../kit/log.ts";
import {
  type Claim,
  claimJob,
  dueJobs,
  finishJob,
  postponeJob,
  releaseJob,
  renewJob,
  repeatJob,
} from "../store/jobs.ts";
import type { Db, Store } from "../store/port.ts";
import type { JobRow } from "../store/tables.ts";
import { type Job, type JobKind, LeaseLost } from "./job.ts";

/** Works what is due: jobs that this process added, and those that other processes left. */
export type Worker = {
  /** Looks for due jobs from now on: at once when woken, and each second. */
  start(): void;
  /** A job was added and its transaction is through. Harmless before `start`. */
  wake(): void;
  /** Works whatever is due, and what becomes due meanwhile; resolves when nothing is. */
  runDue(): Promise<void>;
  /** Takes no more; aborts what is under way, and gives back what it did not end. */
  close(): Promise<void>;
};

export type WorkerNeeds = { store: Store; clock: Clock; log: Log };

const LOOK_MS = SECOND;
const RENEWALS_PER_LEASE = 3;

const held = async (change: Promise<boolean>): Promise<void> => {
  if (!(await change)) throw new LeaseLost();
};

/** Renews a claim while its job runs; aborts the job when the claim is gone. */
const keepLease = (
  { store, clock, log }: WorkerNeeds,
  claim: Claim,
  leaseMs: number,
  abort: AbortController,
): (() => void) => {
  const renew = async (): Promise<void> => {
    const until = clock() + leaseMs;
    if (!(await store.transaction((tx) => renewJob(tx, claim, until)))) abort.abort();
  };
  const timer = setInterval(() => {
    renew().catch((error: unknown) => log.warn("job.renew_failed", errorFields(error)));
  }, leaseMs / RENEWALS_PER_LEASE);
  timer.unref();
  return () => clearInterval(timer);
};

const jobOf = (row: JobRow, claim: Claim, tries: number, signal: AbortSignal) => {
  let ended = false;
  const job: Job = {
    id: row.id,
    tenantId: row.tenant_id,
    lane: row.lane,
    dueAt: row.due_at,
    tries,
    signal,
    async finish(tx: Db) {
      await held(finishJob(tx, claim));
      ended = true;
    },
    async again(tx: Db, dueAt: number) {
      await held(repeatJob(tx, claim, dueAt));
      ended = true;
    },
  };
  return { job, hasEnded: () => ended };
};

export const createWorker = (needs: WorkerNeeds, kinds: readonly JobKind[]): Worker => {
  const { store, clock, log } = needs;
  const underWay = new Map(kinds.map(({ kind }) => [kind, new Set<Promise<void>>()]));
  const closing = new AbortController();
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let timer: NodeJS.Timeout | undefined;

  const runningOf = (kind: JobKind): Set<Promise<void>> => underWay.get(kind.kind) ?? new Set();
  const allRunning = (): Promise<void>[] => [...underWay.values()].flatMap((set) => [...set]);

  const afterFailure = async (kind: JobKind, claim: Claim, tries: number, error: unknown) => {
    if (error instanceof LeaseLost) return;
    const told = { kind: kind.kind, id: claim.id, tries };
    if (closing.signal.aborted) {
      await store.transaction((tx) => releaseJob(tx, claim));
      return;
    }
    log.warn("job.failed", { ...told, ...errorFields(error) });
    await store.transaction((tx) => postponeJob(tx, claim, clock() + kind.retryMs(tries)));
  };

  const work = async (kind: JobKind, row: JobRow, claim: Claim): Promise<void> => {
    const tries = row.tries + 1;
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, closing.signal]);
    const letGo = keepLease(needs, claim, kind.leaseMs, lost);
    try {
      const { job, hasEnded } = jobOf(row, claim, tries, signal);
      await (tries > kind.maxTries ? kind.giveUp(job) : kind.run(job));
      if (!hasEnded()) throw new Error(`a job of kind ${kind.kind} was left without an end`);
    } catch (error) {
      await afterFailure(kind, claim, tries, error);
    } finally {
      letGo();
    }
  };

  const begin = (kind: JobKind, row: JobRow, lease: string): void => {
    const running = runningOf(kind);
    const claim = { kind: row.kind, id: row.id, lease };
    // A claim whose end could not be written runs out by itself.
    const done = work(kind, row, claim)
      .catch((error: unknown) => log.error("job.lost", { kind: row.kind, ...errorFields(error) }))
      .finally(() => {
        running.delete(done);
        look();
      });
    running.add(done);
  };

  /** Claims what is due and there is room for; tells how many. */
  const claimDue = async (kind: JobKind): Promise<number> => {
    const atMost = kind.atOnce - runningOf(kind).size;
    if (atMost <= 0) return 0;
    const due = { kind: kind.kind, now: clock(), perLane: kind.perLane, atMost };
    if ((await dueJobs(store.read, due)).length === 0) return 0;
    const lease = randomToken();
    // Seen anew under the kind's own queue, so that no two processes fill one lane together.
    const claimed = await store.transaction(async (tx) => {
      const rows: JobRow[] = [];
      for (const row of await dueJobs(tx, due)) {
        // oxlint-disable-next-line no-await-in-loop -- one connection
        if (await claimJob(tx, row, lease, due.now + kind.leaseMs)) rows.push(row);
      }
      return rows;
    }, `jobs of kind ${kind.kind}`);
    for (const row of claimed) begin(kind, row, lease);
    return claimed.length;
  };

  const claimAll = async (): Promise<number> => {
    const counts = await Promise.all(kinds.map(claimDue));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const lookOnce = async (): Promise<void> => {
    try {
      do {
        lookAgain = false;
        // oxlint-disable-next-line no-await-in-loop -- woken while it looked
        await claimAll();
      } while (lookAgain && !closing.signal.aborted);
    } catch (error) {
      log.warn("jobs.unavailable", errorFields(error));
    }
    looking = undefined;
  };

  const look = (): void => {
    if (timer === undefined || closing.signal.aborted) return;
    lookAgain = true;
    looking ??= lookOnce();
  };

  return {
    start() {
      timer ??= setInterval(look, LOOK_MS).unref();
      look();
    },
    wake: look,
    async runDue() {
      for (;;) {
        // What ends while this looks may have made room that was not seen.
        const running = allRunning();
        // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
        const claimed = await claimAll();
        if (claimed === 0 && running.length === 0) return;
        // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
        if (claimed === 0) await Promise.race(running);
      }
    },
    async close() {
      closing.abort();
      clearInterval(timer);
      await looking;
      await Promise.all(allRunning());
    },
  };
};
