import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { describeEnded, listEnded } from "../../src/insights/ended-disputes.ts";
import { fitReason } from "../../src/insights/claim-reasons.ts";
import { createLeftOutRows, selectStanding } from "../../src/insights/standing-payments.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { DAY } from "../../src/kit/clock.ts";
import { verifies } from "../support/verifies.ts";

describe("the reason of a customer's words", () => {
  const reason = (code: string, description: string) =>
    ({ reasonId: code, code, description, active: true }) as Parameters<
      typeof fitReason
    >[1][number];
  const reasons = [reason("PRC", "Wrong price"), reason("QTY", "Wrong quantity")];
  const earlier = (count: number, reasonId: string) =>
    Array.from(
      { length: count },
      () =>
        ({ reasonId, externalReasonName: "Code 17" }) as Parameters<typeof fitReason>[2][number],
    );

  it.each<[string, string, number, number, object | undefined]>([
    ["a code", "prc", 0, 0, { reasonCode: "PRC", by: "code" }],
    [
      "words of one description",
      "the price is too high",
      0,
      0,
      { reasonCode: "PRC", by: "description" },
    ],
    ["words of both", "wrong", 0, 0, undefined],
    ["no known word", "n/a", 0, 0, undefined],
    [
      "earlier claims",
      "code 17",
      5,
      3,
      { reasonCode: "QTY", by: "earlier claims", cases: 5, of: 8 },
    ],
    ["too few of them", "code 17", 4, 0, undefined],
    ["too many others", "code 17", 5, 4, undefined],
  ])("%s", (_name, text, quantity, price, expected) => {
    const all = [...earlier(quantity, "QTY"), ...earlier(price, "PRC")];
    expect(fitReason(text, reasons, all)).toEqual(expected);
  });
});

describe("disputes that ended", () => {
  verifies("WK-42");
  it("are named three at most: those over the amount, then the newest", () => {
    const one = fc.record({
      status: fc.constantFrom(0, 1, 2),
      amount: fc.constantFrom(10, 20, 30),
      closed: fc.option(fc.integer({ min: 0, max: 400 })),
      updated: fc.integer({ min: 0, max: 400 }),
    });
    const at = (day: number): string => new Date(Date.UTC(2025, 0, 1) + day * DAY).toISOString();
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), (drawn) => {
        const disputes = drawn.map(({ status, amount, closed, updated }, place) => ({
          disputeCode: `D-${place}`,
          status,
          amount,
          closedDate: status === 0 || closed === null ? null : at(closed),
          updateDate: at(updated),
        })) as unknown as Dispute[];
        const named = listEnded(disputes, 20);
        const endOf = ({ closedDate, updateDate }: Dispute) => closedDate ?? updateDate;
        // Of all others that ended, none has a better claim to be named, and no two are the wrong way round.
        const precedes = (a: Dispute, b: Dispute): boolean =>
          a.amount === 20 && b.amount !== 20
            ? true
            : (a.amount === 20) === (b.amount === 20) && endOf(a) > endOf(b);
        const others = disputes.filter(
          (dispute) => dispute.status !== 0 && !named.includes(dispute),
        );
        expect(named.every(({ status }) => status !== 0)).toBe(true);
        expect(named).toHaveLength(Math.min(3, named.length + others.length));
        for (const [place, dispute] of named.entries()) {
          const after = [...named.slice(place + 1), ...others];
          expect(after.some((later) => precedes(later, dispute))).toBe(false);
        }
      }),
    );
  });

  it("end on the tenant's day", () => {
    const dispute = {
      disputeCode: "D-1",
      status: 2,
      amount: 5,
      closedDate: "2026-03-28T23:30:00.000Z",
      updateDate: "2026-04-01T00:00:00.000Z",
      resolutionCode: null,
    } as Dispute;
    const ended = { disputeCode: "D-1", status: "Canceled", amount: 5 };
    const berlin = openCalendar("Europe/Berlin");
    expect(describeEnded(dispute, berlin)).toEqual({ ...ended, endedOn: "2026-03-29" });
    // An hour later on the day of the change to summer time.
    const later = { ...dispute, closedDate: "2026-03-29T22:30:00.000Z" };
    expect(describeEnded(later, berlin)).toEqual({ ...ended, endedOn: "2026-03-30" });
  });
});

describe("payment rows that are left out", () => {
  verifies("WK-43");
  it("are each counted once, with the reason", () => {
    const row = fc.record({
      documentNumber: fc.constantFrom("A", "B"),
      currencyCode: fc.constantFrom("USD", "EUR"),
      appliedAmount: fc.constantFrom(10, -10, 20, -20, null),
      applicationStatus: fc.constantFrom("applied", "reversed"),
      matchMethod: fc.constantFrom("auto", "suggested"),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 14 }), (rows) => {
        const isBack = (one: (typeof rows)[number]) => one.applicationStatus === "reversed";
        const proposed = rows.filter((one) => !isBack(one) && one.matchMethod === "suggested");
        const real = rows.filter((one) => !isBack(one) && one.matchMethod !== "suggested");
        // Of each document, currency and amount, as many are undone as were both paid and reversed.
        const keys = new Set(
          real.map((one) =>
            JSON.stringify([one.documentNumber, one.currencyCode, one.appliedAmount]),
          ),
        );
        let undone = 0;
        for (const key of keys) {
          const [document, currency, applied] = JSON.parse(key) as [string, string, number | null];
          const has = (amount: number | null, from: typeof rows) =>
            from.filter(
              (one) =>
                one.documentNumber === document &&
                one.currencyCode === currency &&
                one.appliedAmount === amount,
            ).length;
          if (applied === null) continue;
          undone += Math.min(has(applied, real), has(-applied, rows.filter(isBack)));
        }
        expect(selectStanding(rows)).toHaveLength(real.length - undone);
        const left = createLeftOutRows();
        left.count(rows);
        const back = rows.filter(isBack).length + undone;
        const [note = ""] = left.notes();
        expect(note.includes(`${proposed.length} suggested`)).toBe(proposed.length > 0);
        expect(note.includes(`${back} reversed`)).toBe(back > 0);
      }),
    );
  });
});
