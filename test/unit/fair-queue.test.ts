import { describe, expect, it } from "vitest";
import { createFairQueue, type FairQueue, QueueFull } from "../../src/kit/fair-queue.ts";
import { createViewTurns } from "../../src/platform/store/engine/turns.ts";
import { TooManyReads } from "../../src/platform/store/port.ts";
import { verifies } from "../support/verifies.ts";

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/** Tasks that end when the test says so. */
const createTasks = () => {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const task = (name: string) => (): Promise<void> => {
    started.push(name);
    return new Promise((resolve) => ends.push(resolve));
  };
  const endNext = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { started, task, endNext };
};

describe("the fair queue", () => {
  verifies("RC-31");
  it("refuses all that wait at once, and goes on with those that come later", async () => {
    const queue = createFairQueue({ running: 1, waitingPerKey: 10 });
    const { started, task, endNext } = createTasks();
    const all = Promise.allSettled(
      ["running", "one", "two"].map((name) => queue.run(name, task(name))),
    );
    await expect.poll(() => started.length).toBe(1);
    queue.refuseAll(new Error("away"));
    const later = queue.run("one", task("later"));
    await endNext();
    await endNext();
    await later;
    expect(started).toEqual(["running", "later"]);
    expect((await all).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  });

  verifies("C-90");
  it("runs a bounded number of tasks at once and gives each key its turn", async () => {
    const queue = createFairQueue({ running: 2, waiting: 20, waitingPerKey: 10 });
    const { started, task, endNext } = createTasks();
    const all = range(6).map((index) => queue.run("flood", task(`flood ${index}`)));
    all.push(queue.run("other", task("other")));
    await expect.poll(() => started.length).toBe(2);
    await endNext();
    await endNext();
    expect(started).toEqual(["flood 0", "flood 1", "flood 2", "other"]);
    for (const _ of range(7)) await endNext();
    await Promise.all(all);
    expect([started.length, queue.waiting()]).toEqual([7, 0]);
  });

  verifies("C-90");
  it("refuses a key with too many waiting tasks, and displaces a flood when full", async () => {
    const queue = createFairQueue({ running: 1, waiting: 6, waitingPerKey: 3 });
    const { started, task, endNext } = createTasks();
    const results = ["a", "a", "a", "a", "b", "b", "b", "a"].map((key) =>
      queue.run(key, task(key)).then(
        () => "done",
        (error: unknown) => error,
      ),
    );
    await expect(results[7]).resolves.toMatchObject({ ofKey: true });
    const late = queue.run("c", task("c"));
    await expect(results[3]).resolves.toBeInstanceOf(QueueFull);
    expect(queue.waiting()).toBe(6);
    for (const _ of range(8)) await endNext();
    await late;
    expect(started.toSorted()).toEqual(["a", "a", "a", "b", "b", "b", "c"]);
  });

  it("continues after a task that fails", async () => {
    const queue = createFairQueue({ running: 1, waiting: 1, waitingPerKey: 1 });
    await expect(queue.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(queue.run("a", async () => 1)).resolves.toBe(1);
  });
});

const SHARED = { running: 3, runningPerKey: 2, waitingPerKey: 4, waitMs: 60_000 };

/** Enters as an owner and notes the order in which turns are given. */
const entering = (queue: FairQueue, turns: string[]) => async (name: string, owner: string) => {
  const leave = await queue.enter(owner);
  turns.push(name);
  return leave;
};

describe("turns at a fair queue", () => {
  verifies("C-91");
  it("gives one owner no more than its share, and the rest to others", async () => {
    const queue = createFairQueue(SHARED);
    const turns: string[] = [];
    const enter = entering(queue, turns);
    const busy = [1, 2, 3, 4].map((number) => enter(`busy-${number}`, "busy"));
    await Promise.all(busy.slice(0, 2));
    await enter("other-1", "other");
    expect(turns).toEqual(["busy-1", "busy-2", "other-1"]);
    expect(queue.running()).toBe(3);
    for (const one of busy) (await one)();
    expect(queue.running()).toBe(1);
  });

  verifies("C-91");
  it("serves owners in turn, however many requests one of them has waiting", async () => {
    const queue = createFairQueue({ ...SHARED, running: 1 });
    const turns: string[] = [];
    const enter = entering(queue, turns);
    const leave = await enter("first", "busy");
    const later = [
      enter("busy-1", "busy"),
      enter("busy-2", "busy"),
      enter("busy-3", "busy"),
      enter("other", "other"),
    ];
    leave();
    await Promise.all(later.map(async (one) => (await one)()));
    expect(turns).toEqual(["first", "busy-1", "other", "busy-2", "busy-3"]);
  });

  it("refuses an owner that has too many requests waiting", async () => {
    const queue = createFairQueue({ ...SHARED, running: 1 });
    await queue.enter("busy");
    const waiting = Array.from({ length: 4 }, () => queue.enter("busy"));
    await expect(queue.enter("busy")).rejects.toBeInstanceOf(QueueFull);
    for (const one of waiting) one.catch(() => {});
  });

  it("refuses a request that has waited too long", async () => {
    const queue = createFairQueue({ ...SHARED, running: 1, waitMs: 1 });
    const leave = await queue.enter("busy");
    await expect(queue.enter("busy")).rejects.toBeInstanceOf(QueueFull);
    leave();
    (await queue.enter("busy"))();
    expect(queue.running()).toBe(0);
  });

  verifies("C-87");
  it("removes a canceled request, and gives its turn to the next one", async () => {
    const queue = createFairQueue({ ...SHARED, running: 1 });
    const leave = await queue.enter("busy");
    const gone = new AbortController();
    const lost = queue.enter("busy", gone.signal);
    const next = queue.enter("busy");
    gone.abort();
    await expect(lost).rejects.toThrow("aborted");
    await expect(queue.enter("busy", gone.signal)).rejects.toThrow("aborted");
    leave();
    (await next)();
    expect(queue.running()).toBe(0);
  });

  it("counts a turn once that is ended twice", async () => {
    const queue = createFairQueue({ ...SHARED, running: 2 });
    const leave = await queue.enter("one");
    await queue.enter("two");
    leave();
    leave();
    expect(queue.running()).toBe(1);
  });

  it("refuses a view of the store where too many of one owner wait", async () => {
    const turns = createViewTurns(1);
    await turns.enter("busy");
    const waiting = Array.from({ length: 64 }, () => turns.enter("busy"));
    await expect(turns.enter("busy")).rejects.toBeInstanceOf(TooManyReads);
    expect(turns.use()).toEqual({ pool: "views", busy: 1, free: 0, waiting: 64 });
    for (const one of waiting) one.catch(() => {});
  });
});
