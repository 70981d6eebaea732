import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import {
  createWatches,
  type RunsState,
  WATCH_LIMITS,
  type Watches,
} from "../../src/mcp/resources/watches.ts";

/** A platform with one schedule, and time that passes only while a watch sleeps. */
const world = (chance = 0) => {
  let now = 1_000_000;
  const slept: number[] = [];
  const state: RunsState = { ended: ["old"], isUnderWay: false, nextRunAt: now + 10 * MINUTE };
  const place = {
    state: { ...state } as RunsState | Error,
    reads: 0,
    slept,
    now: () => now,
    /** Events during the sleeps of a watch, in order; without further events it sleeps for ever. */
    meanwhile: [] as (() => void)[],
    resting: Promise.withResolvers<void>(),
    watches: undefined as unknown as Watches,
    async read(): Promise<RunsState> {
      place.reads += 1;
      if (place.state instanceof Error) throw place.state;
      return place.state;
    },
  };
  place.watches = createWatches({
    now: place.now,
    log: silentLog,
    wait: {
      chance: () => chance,
      async sleep(ms, signal) {
        signal?.throwIfAborted();
        slept.push(ms);
        const next = place.meanwhile.shift();
        if (next === undefined) {
          place.resting.resolve();
          await new Promise((_resolve, reject) => {
            signal?.addEventListener("abort", () => reject(new Error("aborted")));
          });
        }
        now += ms;
        next?.();
      },
    },
  });
  return place;
};

const open: Watches[] = [];
const opened = (chance?: number) => {
  const place = world(chance);
  open.push(place.watches);
  return place;
};
afterEach(() => {
  for (const watches of open.splice(0)) watches.close();
});

const ADDRESS = { scheduleId: "s" };
const nothing = (): void => {};

describe("watches of runs", () => {
  it("poll when a slot is due, then less and less often, and notify once of each run that ends", async () => {
    const place = opened();
    const told: string[] = [];
    const known = place.state as RunsState;
    const nextRunAt = place.now() + 20 * MINUTE;
    place.meanwhile = [
      nothing,
      () => {
        place.state = { ...known, isUnderWay: true, nextRunAt };
      },
      nothing,
      () => {
        place.state = { ended: ["new", "old"], isUnderWay: false, nextRunAt };
      },
    ];
    const { begun } = place.watches.subscribe("ann", ADDRESS, {
      read: place.read,
      notify: () => told.push("schedule"),
    });
    for (const runId of ["new", "old"]) {
      place.watches.subscribe(
        "ann",
        { ...ADDRESS, runId },
        { read: place.read, notify: () => told.push(runId) },
      );
    }
    await begun;
    await place.resting.promise;
    const due = WATCH_LIMITS.dueMs;
    expect(place.slept.slice(0, 4)).toEqual([10 * MINUTE + due, due, due * 1.5, due * 1.5 ** 2]);
    expect(place.slept[4]).toBeGreaterThan(9 * MINUTE);
    expect(told).toEqual(["schedule", "new"]);
    expect(place.reads).toBe(5);
  });

  it("vary their delay by at most a quarter", async () => {
    const place = opened(0.999);
    place.watches.subscribe("ann", ADDRESS, { read: place.read, notify: nothing });
    await place.resting.promise;
    const exact = 10 * MINUTE + WATCH_LIMITS.dueMs;
    expect(place.slept[0]).toBeGreaterThan(exact * 1.24);
    expect(place.slept[0]).toBeLessThan(exact * 1.25);
  });

  it("never pause for longer than half a minute while a run is active", async () => {
    const place = opened();
    place.state = { ended: [], isUnderWay: true, nextRunAt: null };
    place.meanwhile = Array.from({ length: 20 }, () => nothing);
    place.watches.subscribe("ann", ADDRESS, { read: place.read, notify: nothing });
    await place.resting.promise;
    expect(Math.max(...place.slept)).toBe(30 * SECOND);
  });

  it("continue after a failed poll, and notify then, because an event may have been missed", async () => {
    const place = opened();
    const known = place.state;
    place.state = new Error("the platform is away");
    place.meanwhile = [nothing, nothing, () => (place.state = known)];
    let told = 0;
    const { begun } = place.watches.subscribe("ann", ADDRESS, {
      read: place.read,
      notify: () => (told += 1),
    });
    await expect(begun).rejects.toThrow("away");
    await place.resting.promise;
    expect(place.slept.slice(0, 3)).toEqual([5000, 10_000, 20_000]);
    expect(told).toBe(1);
    const later = place.watches.subscribe("ann", ADDRESS, { read: place.read, notify: nothing });
    await expect(later.begun).resolves.toEqual(known);
  });

  it("end with their last subscriber, with a missing schedule, and after the last slot", async () => {
    const place = opened();
    const of = { read: place.read, notify: nothing };
    const [one, other] = [
      place.watches.subscribe("ann", ADDRESS, of),
      place.watches.subscribe("ann", ADDRESS, of),
    ];
    await place.resting.promise;
    one.end();
    one.end();
    expect(place.watches.count()).toBe(1);
    other.end();
    expect(place.watches.count()).toBe(0);
    expect(place.reads).toBe(1);

    const gone = opened();
    gone.state = new ResourceNotFoundError("s");
    const { begun } = gone.watches.subscribe("ann", ADDRESS, { read: gone.read, notify: nothing });
    await expect(begun).rejects.toThrow(ResourceNotFoundError);
    expect([gone.reads, gone.slept]).toEqual([1, []]);

    const last = opened();
    last.state = { ended: ["old"], isUnderWay: false, nextRunAt: null };
    await last.watches.subscribe("ann", ADDRESS, { read: last.read, notify: nothing }).begun;
    expect([last.reads, last.slept]).toEqual([1, []]);
  });

  it("belong to one caller each, and are limited in number", async () => {
    const place = opened();
    const of = { read: place.read, notify: nothing };
    for (let number = 0; number < WATCH_LIMITS.max; number += 1) {
      place.watches.subscribe("ann", { scheduleId: `s-${number}` }, of);
    }
    expect(() => place.watches.subscribe("ann", { scheduleId: "more" }, of)).toThrow("At most 100");
    place.watches.subscribe("ann", { scheduleId: "s-1", runId: "r" }, of);
    place.watches.subscribe("bob", { scheduleId: "s-1" }, of);
    expect(place.watches.count()).toBe(WATCH_LIMITS.max + 1);
  });
});
