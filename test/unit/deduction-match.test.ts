import { expect, it } from "vitest";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { type DeductionRow, findDeduction } from "../../src/insights/deduction-match.ts";
import { verifies } from "../support/verifies.ts";

const row = (more: Partial<DeductionRow>): DeductionRow => ({
  paymentId: "P",
  paymentDate: "2026-03-01",
  documentNumber: "INV-1",
  currencyCode: "EUR",
  deductionAmount: null,
  deductionReasonCode: null,
  invoiceAmount: 1000,
  appliedAmount: 900,
  applicationStatus: "partial",
  matchMethod: "auto",
  shortPay: true,
  ...more,
});

const claim = (amount: number) => ({
  amount,
  currencyCode: "EUR",
  createDate: "2026-03-31T22:30:00.000Z",
});
const how = { tolerance: 0, calendar: openCalendar("Europe/Berlin") };
const matchOf = (amount: number, ...rows: DeductionRow[]) =>
  findDeduction(claim(amount), rows, how).match;

verifies("IN-40");
it("a payment that was returned, an instalment and a suggestion deduct nothing", () => {
  expect(matchOf(100, row({ deductionAmount: 100 }))).toBe("exact");
  const returned = { appliedAmount: -900, deductionAmount: -100, applicationStatus: "reversed" };
  expect(matchOf(100, row({ deductionAmount: 100 }), row(returned))).toBe("none");
  expect(matchOf(100, row({ shortPay: false }))).toBe("none");
  expect(matchOf(100, row({ matchMethod: "suggested" }))).toBe("none");
  const other = row({ deductionAmount: 100, appliedAmount: 800 });
  expect(matchOf(100, other, row(returned))).toBe("exact");
});

it.each<[string, number, string]>([
  ["the rest beyond the discount", 80, "exact"],
  ["the discount and the rest", 100, "exact"],
  ["the discount alone", 20, "other-amount"],
])("a payment with a discount left out %s", (_name, amount, expected) => {
  expect(matchOf(amount, row({ discountTaken: 20 }))).toBe(expected);
});

it("a discount pays its part of a document", () => {
  const paid = { shortPay: false, paymentDate: "2026-04-02" };
  expect(matchOf(77, row({ ...paid, appliedAmount: 980, discountTaken: 20 }))).toBe("paid-later");
  expect(matchOf(77, row({ ...paid, appliedAmount: 980, discountTaken: 19 }))).toBe("none");
});

verifies("WK-43");
it.each<[string, number, number[][], string]>([
  ["two of one payment", 30.3, [[10.1, 20.2]], "sum"],
  ["three of one payment", 0.6, [[0.1, 0.2, 0.3]], "sum"],
  ["four of one payment", 10, [[1, 2, 3, 4]], "other-amount"],
  ["two of different payments", 30, [[10], [20]], "other-amount"],
  ["one of the amount before a sum", 30, [[10, 20], [30]], "exact"],
])("deductions of a payment add up: %s", (_name, amount, payments, expected) => {
  const rows = payments.flatMap((deductions, payment) =>
    deductions.map((deductionAmount) =>
      row({ paymentId: `P-${payment}`, deductionAmount, shortPay: false }),
    ),
  );
  expect(matchOf(amount, ...rows)).toBe(expected);
});

it.each<[string, Partial<DeductionRow>[], string]>([
  ["on the day after the opening", [{ appliedAmount: 900 }, { appliedAmount: 100 }], "paid-later"],
  ["in part", [{ appliedAmount: 900 }, { appliedAmount: 50 }], "other-amount"],
  [
    "and came back",
    [
      { appliedAmount: 900 },
      { appliedAmount: 100 },
      { appliedAmount: -100, applicationStatus: "reversed" },
    ],
    "other-amount",
  ],
])("a document was paid later %s", (_name, [first, ...later], expected) => {
  const rows = later.map((one) => row({ ...one, paymentId: "L", paymentDate: "2026-04-02" }));
  expect(matchOf(77, row({ ...first, deductionAmount: 5 }), ...rows)).toBe(expected);
});

it("a payment on the tenant's day of the opening is not later", () => {
  const paid = { appliedAmount: 1000, shortPay: false, paymentDate: "2026-04-01" };
  expect(matchOf(77, row(paid))).toBe("none");
  expect(matchOf(77, row({ ...paid, paymentDate: "2026-04-02" }))).toBe("paid-later");
});
