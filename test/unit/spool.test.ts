import { expect, it, vi } from "vitest";
import { createSpools } from "../../src/platform/http/spool.ts";
import { verifies } from "../support/verifies.ts";

const LIMITS = { bytes: 100, perOwner: 1, total: 2 };

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) yield Buffer.alloc(40, at);
}

verifies("OP-51");
it("keeps the order and releases the source, unless the answer is over the limit", async () => {
  const spoolRest = createSpools(LIMITS);
  for (const [count, releases] of [
    [0, 1],
    [2, 1],
    [7, 0],
  ] as const) {
    const release = vi.fn<() => Promise<void>>(async () => {});
    const spool = await spoolRest("a", pieces(count), release);
    expect(release).toHaveBeenCalledTimes(releases);
    const read: Uint8Array[] = [];
    for (let next = await spool?.next(); next !== undefined; next = await spool?.next()) {
      read.push(next);
    }
    const whole = Array.from({ length: count }, (_, at) => Buffer.alloc(40, at));
    expect(Buffer.concat(read)).toEqual(Buffer.concat(whole));
    await spool?.close();
  }
});

verifies("OP-51");
it("limits the files of one tenant and of all, also after failures", async () => {
  const spoolRest = createSpools(LIMITS);
  const release = async () => {};
  const [first, second] = await Promise.all([
    spoolRest("a", pieces(1), release),
    spoolRest("b", pieces(1), release),
  ]);
  expect(spoolRest("a", pieces(1), release)).toBeUndefined();
  expect(spoolRest("c", pieces(1), release)).toBeUndefined();
  await first?.close();
  const failing = spoolRest("a", pieces(1), () => Promise.reject(new Error("lost")));
  await expect(failing).rejects.toThrow("lost");
  const again = await spoolRest("a", pieces(1), release);
  expect(again).toBeDefined();
  await again?.close();
  await second?.close();
});
