import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSameNumber, toNumberKey } from "../../src/contract/number-key.ts";
import { verifies } from "../support/verifies.ts";

describe("numbers of documents", () => {
  verifies("MN-30");
  it.each([
    ["INV-0020", "inv 20"],
    ["INV-2024-001", "INV2024001"],
    ["2026-03-30", "20260330"],
    ["A-B-0012", "AB12"],
    ["X-0-20", "X020"],
    ["X-2-0", "X20"],
    ["R-00-123", "R00123"],
    ["00471", "471"],
    ["INV\u20110007", "INV-7"],
    ["2024-0 012", "2024-0012"],
  ])("%s is %s", (one, other) => {
    expect(isSameNumber(one, other)).toBe(true);
    expect(isSameNumber(other, one)).toBe(true);
  });

  it.each([
    ["X-0-20", "X-2-0"],
    ["X-1-23", "X-12-3"],
    ["X-0-20", "X20"],
    ["2024-0012", "2024-12"],
    ["INV-1", "INV-10"],
    ["", "-"],
    ["-", "-"],
  ])("%s is not %s", (one, other) => {
    expect(isSameNumber(one, other)).toBe(false);
    expect(isSameNumber(other, one)).toBe(false);
  });

  it("that are the same have one key, by which they are sought", () => {
    const number = fc.string({ unit: fc.constantFrom(..."0012AX- ".split("")), maxLength: 8 });
    fc.assert(
      fc.property(number, number, (one, other) => {
        if (isSameNumber(one, other)) expect(toNumberKey(one)).toBe(toNumberKey(other));
        expect(isSameNumber(one, one)).toBe(toNumberKey(one) !== "");
      }),
      { numRuns: 2000 },
    );
  });
});
