import { describe, expect, it } from "vitest";
import { createTopSearch, listAncestors } from "../../src/contract/insights/families.ts";
import { verifies } from "../support/verifies.ts";

describe("parents of accounts", () => {
  const topsOf = (parents: Record<string, string>) => {
    const findTop = createTopSearch((number) => parents[number]);
    return Object.fromEntries(Object.keys(parents).map((number) => [number, findTop(number)]));
  };

  verifies("WK-60");
  it.each<[Record<string, string>, Record<string, string>, string]>([
    [{ A: "B", B: "C", C: "D" }, { A: "D", B: "D", C: "D" }, "a chain, whose top does not exist"],
    [{ A: "A", B: "A" }, { A: "A", B: "A" }, "a parent of itself"],
    [{ B: "C", C: "B", A: "C" }, { A: "B", B: "B", C: "B" }, "parents of each other"],
    [
      { Z: "Y", Y: "C", C: "B", B: "D", D: "C" },
      { Z: "B", Y: "B", C: "B", B: "B", D: "B" },
      "three",
    ],
  ])("has the tops of %j as %j: %s", (parents, tops) => {
    expect(topsOf(parents)).toEqual(tops);
  });

  it("takes linear time for a long chain", () => {
    const length = 50_000;
    let steps = 0;
    const counted = createTopSearch((number) => {
      steps += 1;
      return Number(number) < length ? String(Number(number) + 1) : null;
    });
    for (let number = length; number > 0; number -= 1)
      expect(counted(String(number))).toBe("50000");
    expect(steps).toBeLessThan(5 * length);
  });

  it("lists what is above an account once", () => {
    const parents: Record<string, string> = { A: "B", B: "C", C: "B" };
    expect([...listAncestors("A", (number) => parents[number])]).toEqual(["A", "B", "C"]);
  });
});
