import { afterEach, expect, it, vi } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import { createStreamBody, SlowReader } from "../../src/platform/http/stream.ts";
import { verifies } from "../support/verifies.ts";

/** At 32 KiB a second, a client has two seconds for each. */
async function* endlessPieces(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(64 * 1024);
}

afterEach(() => vi.useRealTimers());

verifies("C-92", "OP-51");
it("a client that reads below the minimum rate loses its connection after a grace", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const cuts: unknown[] = [];
  const cut = (error: unknown): void => void cuts.push(error);
  const reader = createStreamBody(endlessPieces(), { cut, done: () => {} }).getReader();
  // One piece is read and one waits, so that the client has 24 seconds.
  expect((await reader.read()).done).toBe(false);
  await vi.advanceTimersByTimeAsync(23 * SECOND);
  expect(cuts).toEqual([]);
  await vi.advanceTimersByTimeAsync(2 * SECOND);
  expect(cuts).toEqual([expect.any(SlowReader)]);
});
