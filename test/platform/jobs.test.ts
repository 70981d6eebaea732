import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { addJob, removeJob } from "../../src/platform/store/queries/jobs.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { type Job, type JobKind, LeaseLost } from "../../src/platform/jobs/job.ts";
import { createWorker, type Worker } from "../../src/platform/jobs/worker.ts";
import { type FakeClock, fakeClock } from "../support/clock.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const LEASE_MS = 60 * SECOND;

/** A promise that the test resolves. */
const gate = () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return { open, opened };
};

describe.each(dialects)("job worker ($name)", (dialect) => {
  let database: Database;
  let store: Store;
  let stores: Set<Store>;
  let clock: FakeClock;
  let workers: Worker[];
  let ran: string[];

  beforeEach(async () => {
    database = await dialect.createMigrated();
    store = await database.open();
    stores = new Set([store]);
    clock = fakeClock();
    workers = [];
    ran = [];
  });
  afterEach(async () => {
    await Promise.all(workers.map((made) => made.close()));
    await Promise.all([...stores].map((opened) => opened.close()));
    await database.remove();
  });

  const finish = (job: Job): Promise<void> => store.transaction((tx) => job.finish(tx));

  const worker = (kind: Partial<JobKind>, on: Store = store): Worker => {
    const made = createWorker({ store: on, clock, log: silentLog }, [
      {
        kind: "count",
        leaseMs: LEASE_MS,
        concurrency: 10,
        perLane: 10,
        maxTries: 3,
        retryMs: (tries) => tries * SECOND,
        async run(job) {
          ran.push(`${job.id}#${job.tries}`);
          await finish(job);
        },
        async giveUp(job) {
          ran.push(`${job.id} given up`);
          await finish(job);
        },
        ...kind,
      },
    ]);
    workers.push(made);
    return made;
  };

  const add = (id: string, { inMs = 0, lane = "lane" } = {}): Promise<void> =>
    store.transaction((tx) =>
      addJob(tx, { kind: "count", id, tenantId: "t", lane, dueAt: clock() + inMs }),
    );

  // On SQLite one thread cannot hold two writing connections: each would wait for the other.
  const second = async (): Promise<Store> => {
    const other = dialect.name === "sqlite" ? store : await database.open();
    stores.add(other);
    return other;
  };

  const left = async (): Promise<string[]> =>
    (await store.read.selectFrom("jobs").select("id").orderBy("id").execute()).map(({ id }) => id);

  it("runs a job once, when it is due", async () => {
    await add("now");
    await add("later", { inMs: SECOND });
    const one = worker({});
    await one.runDue();
    expect([ran, await left()]).toEqual([["now#1"], ["later"]]);
    clock.advance(SECOND);
    await one.runDue();
    await one.runDue();
    expect([ran, await left()]).toEqual([["now#1", "later#1"], []]);
  });

  it("runs each job once with several workers on one database", async () => {
    const other = await second();
    const ids = Array.from({ length: 60 }, (_, index) => `job-${String(index).padStart(2, "0")}`);
    for (const id of ids) await add(id);
    await Promise.all([worker({}).runDue(), worker({}, other).runDue()]);
    await Promise.all(workers.map((made) => made.runDue()));
    expect(ran.toSorted()).toEqual(ids.map((id) => `${id}#1`));
  });

  it("runs jobs when woken, and finds jobs that another process added", async () => {
    const one = worker({});
    one.start();
    await add("woken");
    one.wake();
    await expect.poll(() => ran).toEqual(["woken#1"]);
    await add("found");
    await expect.poll(() => ran).toEqual(["woken#1", "found#1"]);
  });

  it("retries a job that throws with growing delays, and gives it up after the last try", async () => {
    await add("bad");
    const one = worker({
      async run(job) {
        ran.push(`${job.id}#${job.tries}`);
        throw new Error("no");
      },
    });
    const each: string[][] = [];
    for (const wait of [0, SECOND, 2 * SECOND, 3 * SECOND]) {
      clock.advance(wait - 1);
      await one.runDue();
      clock.advance(1);
      await one.runDue();
      each.push(ran.splice(0));
    }
    expect(each).toEqual([["bad#1"], ["bad#2"], ["bad#3"], ["bad given up"]]);
    expect(await left()).toEqual([]);
  });

  it("keeps a job whose run neither finishes nor repeats it", async () => {
    await add("silent");
    await worker({ run: async () => {}, retryMs: () => SECOND }).runDue();
    expect(await left()).toEqual(["silent"]);
  });

  it("resets the tries of a job that is repeated", async () => {
    await add("daily");
    const one = worker({
      async run(job) {
        ran.push(`${job.id}#${job.tries}`);
        await store.transaction((tx) => job.repeat(tx, job.dueAt + 10 * SECOND));
      },
    });
    await one.runDue();
    clock.advance(10 * SECOND);
    await one.runDue();
    expect(ran).toEqual(["daily#1", "daily#1"]);
  });

  it("hands an expired lease to another worker, and refuses the result of the former one", async () => {
    await add("orphan");
    const { open, opened } = gate();
    let tooLate: Promise<void> | undefined;
    const crashed = worker({
      async run(job) {
        await opened;
        tooLate = finish(job);
        await tooLate;
      },
    });
    const abandoned = crashed.runDue();
    await expect
      .poll(() => store.read.selectFrom("jobs").select("tries").execute())
      .toEqual([{ tries: 1 }]);
    const successor = worker({});
    await successor.runDue();
    expect(ran).toEqual([]);
    clock.advance(LEASE_MS);
    await successor.runDue();
    expect(ran).toEqual(["orphan#2"]);
    open();
    await abandoned;
    await expect(tooLate).rejects.toThrow(LeaseLost);
  });

  it("counts no try when the worker is shut down", async () => {
    await add("moved");
    const asked = gate();
    const closed = worker({
      run: (job) =>
        new Promise((_resolve, reject) => {
          job.signal.addEventListener("abort", () => reject(new Error("aborted")));
          asked.open();
        }),
    });
    closed.start();
    await asked.opened;
    await closed.close();
    await worker({}).runDue();
    expect(ran).toEqual(["moved#1"]);
  });

  it("renews the lease of a running job, and aborts the job when it is removed", async () => {
    await add("long");
    const started = gate();
    const aborted = gate();
    const one = worker({
      leaseMs: 30,
      async run(job) {
        job.signal.addEventListener("abort", () => aborted.open());
        started.open();
        await aborted.opened;
        await finish(job);
      },
    });
    one.start();
    await started.opened;
    const leasedUntil = async () =>
      (await store.read.selectFrom("jobs").select("leased_until").executeTakeFirstOrThrow())
        .leased_until;
    const before = await leasedUntil();
    clock.advance(20);
    await expect.poll(leasedUntil).toBe(before + 20);
    await store.transaction((tx) => removeJob(tx, { kind: "count", id: "long" }));
    await aborted.opened;
  });

  it("limits the running jobs per lane across workers", async () => {
    const other = await second();
    for (const lane of ["slow", "quick"]) {
      for (const number of [1, 2, 3]) await add(`${lane}-${number}`, { lane });
    }
    const { open, opened } = gate();
    const kind: Partial<JobKind> = {
      perLane: 1,
      async run(job) {
        ran.push(job.id);
        if (job.lane === "slow") await opened;
        await finish(job);
      },
    };
    const both = [worker(kind), worker(kind, other)];
    const running = both.map((made) => made.runDue());
    await expect.poll(() => ran.toSorted()).toEqual(["quick-1", "quick-2", "quick-3", "slow-1"]);
    open();
    await Promise.all(running);
    await Promise.all(both.map((made) => made.runDue()));
    expect(ran.slice(4)).toEqual(["slow-2", "slow-3"]);
  });

  it("runs another lane's job although hundreds of older jobs wait in one lane", async () => {
    const crowd = { kind: "count", tenantId: "t", lane: "crowd", dueAt: clock() };
    await store.transaction(async (tx) => {
      for (let number = 0; number < 120; number += 1)
        await addJob(tx, { ...crowd, id: `${number}` });
    });
    await add("alone", { lane: "alone", inMs: SECOND });
    clock.advance(SECOND);
    const { open, opened } = gate();
    const running = worker({
      concurrency: 3,
      perLane: 1,
      async run(job) {
        ran.push(job.lane);
        if (job.lane === "crowd") await opened;
        await finish(job);
      },
    }).runDue();
    try {
      await expect.poll(() => ran).toEqual(["crowd", "alone"]);
    } finally {
      await store.transaction((tx) =>
        tx.deleteFrom("jobs").where("leased_until", "=", 0).execute(),
      );
      open();
      await running;
    }
    expect(await left()).toEqual([]);
  });

  verifies("C-98", "OP-51");
  it("serves lanes in turn across processes: backlogs of two delay a third by one round at most", async () => {
    const other = await second();
    for (const lane of ["first", "second"]) {
      for (let number = 0; number < 20; number += 1) await add(`${lane}-${number}`, { lane });
    }
    const kind: Partial<JobKind> = {
      concurrency: 1,
      perLane: 1,
      async run(job) {
        ran.push(job.lane);
        if (ran.length === 10) await add("alone", { lane: "third" });
        await finish(job);
      },
    };
    const both = [worker(kind), worker(kind, other)];
    await Promise.all(both.map((made) => made.runDue()));
    await Promise.all(both.map((made) => made.runDue()));
    expect(ran).toHaveLength(41);
    // At most the job that the other process has begun, and one of each lane, come between.
    expect(ran.indexOf("third")).toBeLessThanOrEqual(13);
    const early = ran.slice(0, 10).filter((lane) => lane === "first").length;
    expect([4, 5, 6]).toContain(early);
  });

  it("searches once for jobs that end while others run, and at once after the last one", async () => {
    for (const lane of ["busy", "first", "second"]) {
      for (const number of [1, 2]) await add(`${lane}-${number}`, { lane });
    }
    const { open, opened } = gate();
    const one = worker({
      perLane: 1,
      async run(job) {
        if (job.id === "busy-1") await opened;
        await finish(job);
        ran.push(job.id);
      },
    });
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
    });
    // Not `expect.poll`, which advances the timers.
    const untilRan = async (count: number): Promise<string[]> => {
      while (ran.length < count) await setImmediate();
      return ran.splice(0).toSorted();
    };
    try {
      one.start();
      expect(await untilRan(2)).toEqual(["first-1", "second-1"]);
      for (let turn = 0; turn < 100; turn += 1) await setImmediate();
      expect(await left()).toEqual(["busy-1", "busy-2", "first-2", "second-2"]);
      vi.advanceTimersByTime(1);
      expect(await untilRan(2)).toEqual(["first-2", "second-2"]);
      open();
      expect(await untilRan(2)).toEqual(["busy-1", "busy-2"]);
    } finally {
      open();
      vi.useRealTimers();
    }
  });

  it("runs no more jobs concurrently than the kind allows", async () => {
    for (const number of [1, 2, 3, 4, 5]) await add(`job-${number}`);
    let most = 0;
    let now = 0;
    await worker({
      concurrency: 2,
      async run(job) {
        now += 1;
        most = Math.max(most, now);
        await finish(job);
        now -= 1;
      },
    }).runDue();
    expect([most, await left()]).toEqual([2, []]);
  });
});
