import { describe, expect, it } from "vitest";
import { type Amounts, move, type Status } from "../../src/platform/services/documents/status.ts";

const write = (before: Status | undefined, sent: Amounts, result: Amounts = sent) =>
  move(before, { sent, result });

const OPEN = { status: "open", closes: false };
const CLOSED = { status: "closed", closes: false };
const CLOSES = { status: "closed", closes: true };

describe("a document's status", () => {
  it("ID-08 T-13 zero under either name closes, at creation too; less than zero does not", () => {
    for (const before of [undefined, "open"] as const) {
      expect(write(before, { denomination: 0 })).toEqual(CLOSES);
      expect(write(before, { denomination: -0 })).toEqual(CLOSES);
      expect(write(before, { denomination_in_base_currency: 0 })).toEqual(CLOSES);
      expect(write(before, { denomination: 5, denomination_in_base_currency: 0 })).toEqual(CLOSES);
      expect(write(before, { denomination: -5 })).toEqual(OPEN);
      expect(write(before, {})).toEqual(OPEN);
    }
  });

  it("ID-10 ID-11 T-14 only an amount in the body reopens", () => {
    expect(write("closed", { denomination: 5 })).toEqual(OPEN);
    expect(write("closed", { denomination_in_base_currency: -5 })).toEqual(OPEN);
    expect(write("closed", { denomination: 0 })).toEqual(CLOSED);
    expect(write("closed", {})).toEqual(CLOSED);
    expect(write("closed", {}, { denomination: 5 })).toEqual(CLOSED);
    const result = { denomination: 0, denomination_in_base_currency: 5 };
    expect(write("closed", { denomination_in_base_currency: 5 }, result)).toEqual(CLOSED);
  });

  it("ID-14 is closed on request once", () => {
    expect(move("open", "closure")).toEqual(CLOSES);
    expect(move("closed", "closure")).toBeUndefined();
  });
});
