import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Amounts, move, type Status } from "../../src/platform/services/documents/status.ts";
import { AMOUNTS, newModel, play, type Step, steps } from "../support/document-model.ts";
import { verifies } from "../support/verifies.ts";

const write = (before: Status | undefined, sent: Amounts, result: Amounts = sent) =>
  move(before, { sent, result });

const OPEN = { status: "open", closes: false };
const CLOSED = { status: "closed", closes: false };
const CLOSES = { status: "closed", closes: true };

const numbersOf = (step: Step): Amounts =>
  Object.fromEntries(
    AMOUNTS.flatMap((name) => (typeof step[name] === "number" ? [[name, step[name]]] : [])),
  );

describe("a document's status", () => {
  verifies("ID-08", "ID-09", "ID-10", "ID-11", "ID-14");
  it("follows the table through any sequence", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const model = newModel();
        let status: Status | undefined;
        let closings = 0;
        for (const step of list) {
          if (status === undefined && step.act === "close") continue;
          const answered = play(model, step);
          if (answered === 404 || (answered === 409 && step.act !== "close")) continue;
          const moved =
            step.act === "close" && status !== undefined
              ? move(status, "closure")
              : write(status, numbersOf(step), Object.fromEntries(model.kept));
          expect(moved === undefined).toBe(answered === 409);
          if (moved === undefined) continue;
          status = moved.status;
          if (moved.closes) closings += 1;
          expect(status).toBe(model.isOpen ? "open" : "closed");
        }
        expect(closings).toBe(model.closures.length);
      }),
      { numRuns: 2000, seed: 20_260_302 },
    );
  });

  verifies("ID-08", "T-13");
  it("is closed by zero in either currency, also at creation; not by a negative amount", () => {
    for (const before of [undefined, "open"] as const) {
      expect(write(before, { denomination: 0 })).toEqual(CLOSES);
      expect(write(before, { denomination: -0 })).toEqual(CLOSES);
      expect(write(before, { denomination_in_base_currency: 0 })).toEqual(CLOSES);
      expect(write(before, { denomination: 5, denomination_in_base_currency: 0 })).toEqual(CLOSES);
      expect(write(before, { denomination: -5 })).toEqual(OPEN);
      expect(write(before, {})).toEqual(OPEN);
    }
  });

  verifies("ID-10", "ID-11", "T-14");
  it("is reopened only by an amount in the body", () => {
    expect(write("closed", { denomination: 5 })).toEqual(OPEN);
    expect(write("closed", { denomination_in_base_currency: -5 })).toEqual(OPEN);
    expect(write("closed", { denomination: 0 })).toEqual(CLOSED);
    expect(write("closed", {})).toEqual(CLOSED);
    expect(write("closed", {}, { denomination: 5 })).toEqual(CLOSED);
    const result = { denomination: 0, denomination_in_base_currency: 5 };
    expect(write("closed", { denomination_in_base_currency: 5 }, result)).toEqual(CLOSED);
  });

  verifies("ID-14");
  it("is closed once on request", () => {
    expect(move("open", "closure")).toEqual(CLOSES);
    expect(move("closed", "closure")).toBeUndefined();
  });
});
