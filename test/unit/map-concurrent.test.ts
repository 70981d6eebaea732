import { describe, expect, it } from "vitest";
import { mapConcurrent } from "../../src/kit/map-concurrent.ts";

/** Records begun and ended calls, and lets the test end each of them. */
const making = () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const gates = new Map<number, PromiseWithResolvers<void>>();
  const gateOf = (one: number) => {
    const gate = gates.get(one) ?? Promise.withResolvers<void>();
    gates.set(one, gate);
    return gate;
  };
  const make = async (one: number): Promise<string> => {
    begun.push(one);
    await gateOf(one).promise;
    ended.push(one);
    return `made ${one}`;
  };
  return { begun, ended, make, gateOf };
};

describe("mapConcurrent", () => {
  it("begins calls ahead, and yields results in order", async () => {
    const { begun, make, gateOf } = making();
    const made = mapConcurrent([1, 2, 3, 4], 3, make);
    const first = made.next();
    await expect.poll(() => begun).toEqual([1, 2, 3]);
    gateOf(2).resolve();
    gateOf(3).resolve();
    gateOf(1).resolve();
    expect((await first).value).toBe("made 1");
    gateOf(4).resolve();
    const rest: string[] = [];
    for await (const one of made) rest.push(one);
    expect(rest).toEqual(["made 2", "made 3", "made 4"]);
  });

  it("waits for running calls after an error", async () => {
    const { begun, ended, make, gateOf } = making();
    gateOf(1).reject(new Error("no"));
    setImmediate(gateOf(2).resolve);
    await expect(mapConcurrent([1, 2, 3], 2, make).next()).rejects.toThrow("no");
    expect([begun, ended]).toEqual([[1, 2], [2]]);
  });

  it("waits for running calls after an early return", async () => {
    const { begun, ended, make, gateOf } = making();
    const made = mapConcurrent([1, 2, 3], 2, make);
    const first = made.next();
    gateOf(1).resolve();
    expect((await first).value).toBe("made 1");
    const over = made.return();
    gateOf(2).resolve();
    await over;
    expect([begun, ended]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });
});
