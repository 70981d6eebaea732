import { describe, expect, it } from "vitest";
import { FairLimiter } from "../../src/platform/store/engine/fair-limiter.ts";
import { TooManyReads } from "../../src/platform/store/port.ts";
import { verifies } from "../support/verifies.ts";

const LIMITS = { total: 3, perOwner: 2, waiting: 4, waitMs: 60_000 };

/** Enters as an owner and notes the order in which turns are given. */
const entering = (limiter: FairLimiter, turns: string[]) => async (name: string, owner: string) => {
  const leave = await limiter.enter(owner);
  turns.push(name);
  return leave;
};

describe("a fair limiter", () => {
  verifies("C-91");
  it("gives one owner no more than its share, and the rest to others", async () => {
    const limiter = new FairLimiter(LIMITS);
    const turns: string[] = [];
    const enter = entering(limiter, turns);
    const busy = [1, 2, 3, 4].map((number) => enter(`busy-${number}`, "busy"));
    await Promise.all(busy.slice(0, 2));
    await enter("other-1", "other");
    expect(turns).toEqual(["busy-1", "busy-2", "other-1"]);
    expect(limiter.held).toBe(3);
    for (const one of busy) (await one)();
    expect(limiter.held).toBe(1);
  });

  verifies("C-91");
  it("serves owners in turn, however many requests one of them has waiting", async () => {
    const limiter = new FairLimiter({ ...LIMITS, total: 1 });
    const turns: string[] = [];
    const enter = entering(limiter, turns);
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
    const limiter = new FairLimiter({ ...LIMITS, total: 1 });
    await limiter.enter("busy");
    const waiting = Array.from({ length: 4 }, () => limiter.enter("busy"));
    await expect(limiter.enter("busy")).rejects.toBeInstanceOf(TooManyReads);
    for (const one of waiting) one.catch(() => {});
  });

  it("refuses a request that has waited too long", async () => {
    const limiter = new FairLimiter({ ...LIMITS, total: 1, waitMs: 1 });
    const leave = await limiter.enter("busy");
    await expect(limiter.enter("busy")).rejects.toBeInstanceOf(TooManyReads);
    leave();
    (await limiter.enter("busy"))();
    expect(limiter.held).toBe(0);
  });

  verifies("C-87");
  it("removes a canceled request, and gives its turn to the next one", async () => {
    const limiter = new FairLimiter({ ...LIMITS, total: 1 });
    const leave = await limiter.enter("busy");
    const gone = new AbortController();
    const lost = limiter.enter("busy", gone.signal);
    const next = limiter.enter("busy");
    gone.abort();
    await expect(lost).rejects.toThrow("aborted");
    await expect(limiter.enter("busy", gone.signal)).rejects.toThrow("aborted");
    leave();
    (await next)();
    expect(limiter.held).toBe(0);
  });

  it("counts a turn once that is ended twice", async () => {
    const limiter = new FairLimiter({ ...LIMITS, total: 2 });
    const leave = await limiter.enter("one");
    await limiter.enter("two");
    leave();
    leave();
    expect(limiter.held).toBe(1);
  });
});
