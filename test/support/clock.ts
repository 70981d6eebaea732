import type { Clock } from "../../src/kit/clock.ts";

export type FakeClock = Clock & { advance(ms: number): void; set(at: string): void };

/** A clock that stands still until it is moved. */
export const fakeClock = (start = "2026-03-02T09:00:00.000Z"): FakeClock => {
  let now = Date.parse(start);
  const clock = (() => now) as FakeClock;
  clock.advance = (ms) => {
    now += ms;
  };
  clock.set = (at) => {
    now = Date.parse(at);
  };
  return clock;
};
