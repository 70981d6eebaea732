import { describe, expect, it } from "vitest";
import { createFairQueue, QueueFull } from "../../src/kit/fair-queue.ts";
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
