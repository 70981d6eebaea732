import { expect, it } from "vitest";
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

const matchOf = (amount: number, ...rows: DeductionRow[]) =>
  findDeduction({ amount, currencyCode: "EUR" }, rows, 0).match;

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
