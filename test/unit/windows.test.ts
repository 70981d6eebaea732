import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { createMemoryCounter, takeFrom } from "../../src/kit/windows.ts";
import { fakeClock } from "../support/clock.ts";

const budget = (key: string, max: number) => ({ key, max, windowMs: MINUTE });

it("lets a bounded number of events through in each window, which its first event opens", async () => {
  const clock = fakeClock();
  const counter = createMemoryCounter(clock, 10);
  const take = async () =>
    (await takeFrom(counter, [budget("a", 2)], { refund: true })).refusedUntil;
  const endsAt = clock() + MINUTE;
  expect([await take(), await take(), await take(), await take()]).toEqual([
    undefined,
    undefined,
    endsAt,
    endsAt,
  ]);
  clock.advance(MINUTE);
  expect(await take()).toBeUndefined();
});

it("counts a refused event nowhere with a refund, and where it was counted without", async () => {
  const counter = createMemoryCounter(fakeClock(), 10);
  const both = [budget("wide", 10), budget("narrow", 1)];
  const countOf = async (key: string) => (await counter.count(key, MINUTE)).count;
  await takeFrom(counter, both, { refund: true });
  const { states, refusedUntil } = await takeFrom(counter, both, { refund: true });
  expect(states.map(({ count }) => count)).toEqual([1, 1]);
  expect(refusedUntil).toBeDefined();
  await takeFrom(counter, both, { refund: false });
  expect([await countOf("wide"), await countOf("narrow")]).toEqual([3, 3]);
});

it("gives an event back to the window that ends then, and to no later one", async () => {
  const clock = fakeClock();
  const counter = createMemoryCounter(clock, 10);
  const { endsAt } = await counter.count("a", MINUTE);
  clock.advance(MINUTE);
  await counter.count("a", MINUTE);
  await counter.giveBack("a", endsAt);
  expect((await counter.count("a", MINUTE)).count).toBe(2);
});

it("ends a window from before the clock was set back after its length at the latest", async () => {
  const clock = fakeClock();
  const counter = createMemoryCounter(clock, 10);
  await counter.count("a", MINUTE);
  clock.advance(-10 * MINUTE);
  expect(await counter.count("a", MINUTE)).toEqual({ count: 2, endsAt: clock() + MINUTE });
});

it("forgets the key that was used longest ago where there are too many", async () => {
  const counter = createMemoryCounter(fakeClock(), 2);
  for (const key of ["a", "b", "c"]) await counter.count(key, MINUTE);
  expect((await counter.count("a", MINUTE)).count).toBe(1);
  expect((await counter.count("c", MINUTE)).count).toBe(2);
});
