import { describe, expect, it } from "vitest";
import { type Benchmark, interleaved, lineOf, median } from "../../bench/measure.ts";

describe("benchmarks", () => {
  it("use the median of their measurements", () => {
    expect(median([5])).toBe(5);
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, 1, 5, 6])).toBe(5.5);
    expect(() => median([])).toThrow(RangeError);
  });

  it("repeat both sides in turn, begin with either, and skip the warm-up", async () => {
    const order: string[] = [];
    const side = (name: string) => () => order.push(name);
    const samples = await interleaved(
      { ours: side("ours"), base: side("base") },
      { runs: 3, warmUp: 1 },
    );
    expect(order.join(" ")).toBe("ours base base ours ours base base ours");
    expect(samples).toEqual({ ours: [4, 5, 8], base: [3, 6, 7] });
  });

  it("are judged by the ratio of the medians, if they have an aim", () => {
    const benchmark: Benchmark = {
      name: "b",
      about: "",
      unit: "ms",
      aim: 2,
      run: async () => ({ ours: [], base: [] }),
    };
    const samples = { ours: [4, 100, 4], base: [2, 2, 50] };
    expect(lineOf(benchmark, samples)).toMatchObject({ ours: 4, base: 2, ratio: 2, verdict: "ok" });
    expect(lineOf({ ...benchmark, aim: 1.9 }, samples).verdict).toBe("missed");
    expect(lineOf({ ...benchmark, aim: null }, samples).verdict).toBe("reported");
  });
});
